import type { RunView } from '../../../../view/run-view.ts';
import { ruleLine, wrapLine } from '../../../line.ts';
import { type Line, type Look, span } from '../../../span.ts';

/** The two ways on from the leave dialogue, the safe one first. */
export const LEAVE_CHOICES = ['stay', 'leave'] as const;

/**
 * The leave dialogue. Leaving harms nothing, and it says so; where nobody can carry the run on, it says that.
 * `lead` asks it of a run that has to be stopped for another one.
 */
export function leaveLines(
  { runId, instance, gone }: Pick<RunView, 'runId' | 'instance' | 'gone'>,
  what: 'leave' | 'lead',
  cursor: number,
  width: number,
  look: Look,
): Line[] {
  const left = gone ?? `the run stays open; resume it with \`lifeboat resume ${runId}\``;
  const title = what === 'leave' ? 'leave this run?' : 'stop this run to start the recovery?';
  const choices = [
    ['stay', 'continue the run here'],
    what === 'leave' ? ['leave', left] : [`stop it, and recover ${instance}`, STOPPED],
  ] as const;
  return [
    ruleLine(title, width, look, 'accent'),
    ...choices.flatMap(([label, meaning], at) => [
      [
        span(at === cursor ? `${look.glyphs.cursor} ` : '  ', 'selected'),
        span(label, at === cursor ? 'selected' : 'text'),
      ],
      ...wrapLine([span(`    ${meaning}`, 'text.dim')], width, 4),
    ]),
  ];
}

/** One instance has one open run: the other one begins only when this one is over. */
const STOPPED =
  'this run is closed as stopped, and sends nothing more; then the recovery is shown, and it starts only when you confirm it';

/** What a run that nobody drives does. */
const RESTING = 'nothing is done meanwhile; it stands where it was left, and the incident goes on';

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
    ...wrapLine([span(watched.driver, watched.isFree ? 'status.warn' : 'text.strong')], width, 2),
    ...(watched.isFree ? wrapLine([span(RESTING)], width, 2) : []),
  ];
}
