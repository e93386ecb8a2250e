import { approvalLine, approvalSteps } from '../../../../plain/describe-approval.ts';
import type { QuestionView } from '../../../../view/run-view.ts';
import { commandLines } from '../../../command-lines.ts';
import { cutLine, wrapLine } from '../../../line.ts';
import { type Line, type Look, span } from '../../../span.ts';
import { tokenOf } from '../../../theme.ts';
import type { QuestionState } from '../question-state.ts';

type TypedName = QuestionView & { kind: 'typed-name' };

/**
 * How the approval stands, in one row right above the name, so that it is there however few rows there are.
 */
export function approvalLines(
  { approval }: TypedName,
  { breakGlass }: Pick<QuestionState, 'breakGlass'>,
  width: number,
  look: Look,
): Line[] {
  if (breakGlass !== undefined)
    return [
      cutLine([span(`BREAK-GLASS, without a second person: ${breakGlass}`, 'status.bad')], width, look),
    ];
  if (approval === undefined) return [];
  const { by = '' } = approval;
  const words = `${SHORT[approval.state]}${approval.state === 'given' ? ` by ${by}` : ''}`;
  return [cutLine([span(words, tokenOf(approvalLine(approval).tone))], width, look)];
}

const SHORT = {
  needed: 'not approved yet',
  given: 'approved',
  expired: 'the request for an approval has expired',
  withdrawn: 'the approval was withdrawn',
  bypassed: 'BREAK-GLASS, without a second person',
} as const;

/** All about the approval, with what the second person needs; their command can be copied row by row. */
export function approvalRows({ approval }: TypedName, width: number): Line[] {
  if (approval === undefined) return [];
  const { text, tone } = approvalLine(approval);
  return [
    ...wrapLine([span(text, tokenOf(tone))], width, 2),
    ...approvalSteps(approval).flatMap((step) => commandLines(step, width, { token: 'text.dim' }).lines),
  ];
}
