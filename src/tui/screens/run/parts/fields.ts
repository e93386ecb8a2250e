import type { QuestionView } from '../../../../view/run-view.ts';
import { secretWords } from '../../../../view/secret-words.ts';
import { cutLine, lineWidth, wrapLine } from '../../../line.ts';
import { type Field, fieldLine, graphemes, printedField } from '../../../parts/field.ts';
import { type Line, type Look, type Span, span } from '../../../span.ts';
import type { QuestionState } from '../question-state.ts';

/** A field of one row behind a lead and a label; the part of a long text around the cursor is shown. */
export function fieldRow(
  lead: Span,
  label: string,
  field: Field,
  focused: boolean,
  width: number,
  look: Look,
): Line {
  const name = label === '' ? [] : [span(label, 'accent')];
  const room = Math.max(4, width - lineWidth([lead, ...name]));
  const line = fieldLine('', printedField(field), room, look).filter(({ text }) => text !== '');
  return cutLine([lead, ...name, ...line.map((part) => inField(part, focused))], width, look);
}

function inField({ text, token }: Span, focused: boolean): Span {
  if (token === 'cursor') return { text, token: focused ? token : 'text.strong' };
  return { text, token: 'text.strong' };
}

/**
 * The field of a secret, and above it what can be said of the secret without it: its length, how strong it is
 * at most, and what is often wrong with one.
 */
export function secretLines(
  question: QuestionView & { readonly kind: 'secret' },
  state: QuestionState,
  cursor: Span,
  focused: boolean,
  width: number,
  look: Look,
): Line[] {
  const { minLength, twice } = question;
  const { text, first, sending, lostLineEnd = false } = state;
  const isAgain = first !== undefined;
  const label = isAgain ? 'once more, to compare: ' : 'hidden: ';
  const dots = look.glyphs.dot.repeat(graphemes(text).length);
  const field = fieldRow(cursor, label, { text: dots, cursor: state.cursor }, focused, width, look);
  if (sending) return [field];
  if (text === '')
    return minLength > 1 ? [[span(`  at least ${minLength} characters`, 'text.dim')], field] : [field];
  const { length, strength, pitfalls } = secretWords(text, {
    minLength,
    isNew: twice && !isAgain,
    lostLineEnd,
  });
  return [
    ...wrapLine([span(`  ${[length, strength].filter((part) => part !== undefined).join('; ')}`)], width, 2),
    ...pitfalls.flatMap((pitfall) =>
      wrapLine([span(`  ${look.glyphs.warn} `, 'status.warn'), span(pitfall)], width, 4),
    ),
    field,
  ];
}
