import { Secret } from '../../../base/secret.ts';
import type { AskedSecret } from '../../../view/app/app-port.ts';
import { secretWords, tooShort } from '../../../view/secret-words.ts';
import { scrolledBody } from '../../bands.ts';
import { wrapLine } from '../../line.ts';
import type { BoundKey } from '../../live-screen.ts';
import { footerKey } from '../../live-screen.ts';
import { badgeOfHome, type OpenScreen, screen } from '../../module-screen.ts';
import { failureLines } from '../../parts/facts.ts';
import {
  EDITING_KEYS,
  EMPTY_FIELD,
  type Field,
  type FieldIntent,
  fieldAfter,
  fieldLine,
  graphemes,
  inserted,
} from '../../parts/field.ts';
import { BLANK, span } from '../../span.ts';

type Intent = 'give' | 'leave' | FieldIntent;

interface State {
  /** It must not reach the screen. */
  readonly field: Field;
  readonly first: string | undefined;
  readonly problem: string | undefined;
  /** It was pasted with a line end, which was dropped. */
  readonly lostLineEnd?: boolean;
}

/** The field for a secret: shows only the length of what is typed. Its effect passes the secret on. */
export function entryScreen(asked: AskedSecret): OpenScreen {
  const { prompt, twice = false, least = 0, refused } = asked;
  return screen<State, Intent>({
    init: { field: EMPTY_FIELD, first: undefined, problem: refused },
    subject: () => '',
    title: () => 'hidden entry',
    badge: (_, around) => badgeOfHome(around),
    isTyping: () => true,
    keys: ({ field }) => keysOf(asked, field.text),
    needs: () => [],
    reduce: (state, input) => {
      const { field, first } = state;
      if (input.type === 'text') return [{ ...state, ...taken(field, input.text) }];
      if (input.intent === 'leave') return [state, { type: 'back' }];
      if (input.intent !== 'give') return [{ ...state, field: fieldAfter(field, input), problem: undefined }];
      if (twice && first === undefined)
        return [{ field: EMPTY_FIELD, first: field.text, problem: undefined }];
      if (first !== undefined && first !== field.text)
        return [{ field: EMPTY_FIELD, first: undefined, problem: 'the two entries differ: enter it again' }];
      const empty = { field: EMPTY_FIELD, first: undefined, problem: undefined };
      return [empty, { type: 'entered', secret: new Secret(field.text) }];
    },
    layOut: ({ field, first, problem, lostLineEnd = false }, { size }, look) => {
      const { columns } = size;
      const { length } = graphemes(field.text);
      const dots = { text: look.glyphs.dot.repeat(length), cursor: field.cursor };
      const isAgain = first !== undefined;
      const words = secretWords(field.text, {
        minLength: isAgain ? 0 : least,
        isNew: false,
        lostLineEnd,
      });
      const lines = [
        BLANK,
        ...wrapLine([span(prompt, 'text.strong')], columns),
        ...(problem === undefined ? [] : failureLines(problem, [], columns, look)),
        BLANK,
        fieldLine(isAgain ? 'once more, to compare: ' : 'hidden: ', dots, columns, look),
        ...wrapLine([span(words.length, 'text.dim')], columns),
        ...words.pitfalls.flatMap((pitfall) =>
          wrapLine([span(`${look.glyphs.warn} `, 'status.warn'), span(pitfall)], columns, 2),
        ),
      ];
      return scrolledBody(lines, 0, size, look);
    },
  });
}

/** Drops a line end after a paste; refuses text that contains one, or that could control a terminal. */
function taken(field: Field, raw: string): Omit<State, 'first'> {
  const line = raw.replace(/[\r\n]+$/u, '');
  if (/\p{Cc}/u.test(line))
    return { field, problem: 'that text has line breaks or control characters: nothing was taken' };
  return { field: inserted(field, line), problem: undefined, lostLineEnd: line !== raw };
}

function keysOf({ least = 0, isUnasked }: AskedSecret, text: string): readonly BoundKey<Intent>[] {
  return [
    { ...footerKey('enter', 'give', 'go on', 'take what was entered'), disabled: tooShort(text, least) },
    footerKey(
      ['escape', 'ctrl+c'],
      'leave',
      isUnasked === true ? 'go on without it' : 'leave',
      'leave the field; nothing is taken',
    ),
    ...EDITING_KEYS,
  ];
}
