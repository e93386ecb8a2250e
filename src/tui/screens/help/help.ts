import { scrolledBody } from '../../bands.ts';
import { padLine, ruleLine, wrapLine } from '../../line.ts';
import type { BoundKey, ShownKey } from '../../live-screen.ts';
import { footerKey } from '../../live-screen.ts';
import { badgeOfHome, type OpenScreen, screen } from '../../module-screen.ts';
import { BLANK, type Line, type Look, span } from '../../span.ts';

type Intent = 'close' | 'page-down' | 'page-up';

const KEYS: readonly BoundKey<Intent>[] = [
  {
    intent: 'page-down',
    keys: ['tab', 'pagedown', 'down', 'j'],
    shown: 'Tab',
    label: 'more text',
    description: 'next page',
    inFooter: true,
  },
  {
    intent: 'page-up',
    keys: ['pageup', 'up', 'k'],
    shown: 'PgUp',
    label: 'scroll back',
    description: 'previous page',
    inFooter: false,
  },
  footerKey(['escape', '?', 'q', 'enter'], 'close', 'close help', 'close this help'),
];

/** Keys that work on every screen of the app. */
export const EVERYWHERE: readonly ShownKey[] = [
  key('Esc', 'go back; on the first screen, q leaves the app'),
  key(': or Ctrl-K', 'find anything: screens, runbooks, instances, keys'),
  key('?', 'show the keys of this screen'),
  key('Ctrl-R', 'refresh everything on this screen'),
  key('!', 'open a shell; `exit` comes back to this screen'),
  key('Ctrl-Z', 'suspend to the shell; `fg` comes back'),
  key('Ctrl-C', 'leave the app; no run is lost'),
];

function key(shown: string, description: string): ShownKey {
  return { keys: [], shown, label: '', description, inFooter: false };
}

/** The keys of one screen, with why some do nothing now, and the keys of every screen. */
export function helpScreen(keys: readonly ShownKey[], title: string): OpenScreen {
  return screen<number, Intent>({
    init: 0,
    subject: () => '',
    title: () => `help: ${title}`,
    badge: (_, around) => badgeOfHome(around),
    isTyping: () => false,
    keys: () => KEYS,
    needs: () => [],
    reduce: (scroll, input) => {
      if (input.type !== 'intent') return [scroll];
      const { height, last } = input.page;
      if (input.intent === 'close') return [scroll, { type: 'back' }];
      if (input.intent === 'page-up') return [Math.max(0, Math.min(scroll, last) - height)];
      return [scroll >= last ? 0 : Math.min(last, scroll + height)];
    },
    layOut: (scroll, { size }, look) =>
      scrolledBody(helpLines(keys, title, size.columns, look), scroll, size, look),
  });
}

const KEY_WIDTH = 14;

function helpLines(keys: readonly ShownKey[], title: string, width: number, look: Look): Line[] {
  const shown = keys.filter(({ shown }) => shown !== '');
  return [
    ruleLine(title, width, look, 'accent'),
    ...shown.flatMap((one) => keyLines(one, width)),
    BLANK,
    ruleLine('every screen', width, look, 'accent'),
    ...EVERYWHERE.flatMap((one) => keyLines(one, width)),
  ];
}

function keyLines({ shown, description, disabled }: ShownKey, width: number): Line[] {
  const reason = disabled === undefined ? [] : [span(` (not now: ${disabled})`, 'text.dim')];
  const room = Math.max(10, width - KEY_WIDTH);
  return wrapLine([span(description), ...reason], room).map((row, at) => [
    ...padLine(at === 0 ? [span(shown, 'text.strong')] : [], KEY_WIDTH),
    ...row,
  ]);
}
