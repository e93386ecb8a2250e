import { stakesWords } from '../../../../view/question-words.ts';
import type { QuestionView } from '../../../../view/run-view.ts';
import type { Size } from '../../../bands.ts';
import { padLine, wrapLine } from '../../../line.ts';
import { type Line, type Look, span } from '../../../span.ts';
import type { QuestionState } from '../question-state.ts';
import { approvalLines } from './approval.ts';

type TypedName = QuestionView & { readonly kind: 'typed-name' };

/** As wide as the longest of the names, and two blanks. */
const NAME_WIDTH = 13;

/**
 * What stands right above the field of a name and never goes without it: what is at stake, how the approval
 * stands, and the name.
 */
export function aboveName(
  question: TypedName,
  state: Pick<QuestionState, 'breakGlass'>,
  now: number,
  width: number,
  look: Look,
): Line[] {
  return [
    ...stakesLines(question, now, width),
    ...approvalLines(question, state, width, look),
    ...wrapLine(
      [span('to confirm, type '), span(question.expected, 'selected'), span(' and then Enter')],
      width,
    ),
  ];
}

function stakesLines({ stakes }: TypedName, now: number, width: number): Line[] {
  return stakesWords(stakes, now).flatMap(({ name, text }) => {
    const token = 'text.strong';
    if (width < 3 * NAME_WIDTH) return wrapLine([span(`${name}: `, 'text.dim'), span(text, token)], width, 2);
    return wrapLine([span(text, token)], width - NAME_WIDTH).map((row, at) => [
      ...padLine(at === 0 ? [span(name, 'text.dim')] : [], NAME_WIDTH),
      ...row,
    ]);
  });
}

/** What stands in place of the field where a window is too small for what it would answer. */
export function roomNote({ columns, rows }: Size, width: number): Line[] {
  return wrapLine(
    [
      span('! ', 'status.warn'),
      span(
        `no room to show what is at stake, so no confirmation is accepted: enlarge this window to at least ${columns} x ${rows}`,
        'status.warn',
      ),
    ],
    width,
    2,
  );
}
