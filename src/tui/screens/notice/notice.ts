import { scrolledBody } from '../../bands.ts';
import { wrapLine } from '../../line.ts';
import type { BoundKey } from '../../live-screen.ts';
import { footerKey } from '../../live-screen.ts';
import { badgeOfHome, type OpenScreen, screen } from '../../module-screen.ts';
import { hintLines } from '../../parts/facts.ts';
import { BLANK, span } from '../../span.ts';

export interface Notice {
  readonly title: string;
  readonly text: string;
  readonly lines?: readonly string[];
  readonly hints: readonly string[];
}

type Intent = 'close';

const KEYS: readonly BoundKey<Intent>[] = [
  footerKey(['escape', 'enter', 'q'], 'close', 'back', 'close this notice'),
];

export function noticeScreen({ title, text, lines: said = [], hints }: Notice): OpenScreen {
  return screen<null, Intent>({
    init: null,
    subject: () => '',
    title: () => title,
    badge: (_, around) => badgeOfHome(around),
    isTyping: () => false,
    keys: () => KEYS,
    needs: () => [],
    reduce: (state) => [state, { type: 'back' }],
    layOut: (_, { size }, look) => {
      const { columns } = size;
      const lines = [
        BLANK,
        ...wrapLine([span(text, 'text.strong')], columns, 2),
        BLANK,
        ...said.flatMap((line) => wrapLine([span(line)], columns, 2)),
        ...hintLines(hints, columns, 0),
      ];
      return scrolledBody(lines, 0, size, look);
    },
  });
}
