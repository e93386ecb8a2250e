import type { RunView } from '../../../../view/run-view.ts';
import { ruleLine, wrapLine } from '../../../line.ts';
import { type Line, type Look, span } from '../../../span.ts';

/** What takes the place of a question on a run that is only looked at: who drives it, and what it asks. */
export function watchedLines(
  {
    watched,
    question,
    outcome,
  }: Pick<RunView, 'watched' | 'outcome'> & {
    readonly question: RunView['question'] | undefined;
  },
  width: number,
  look: Look,
): Line[] {
  if (watched === undefined || outcome !== undefined) return [];
  const asked =
    question === undefined
      ? []
      : wrapLine([span('it asks there: ', 'status.warn'), span(question.prompt)], width, 2);
  return [
    ruleLine('only looking', width, look),
    ...asked,
    ...wrapLine([span(watched.driver, 'text.strong')], width, 2),
  ];
}
