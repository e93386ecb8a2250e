import { secondsOf } from '../../base/format.ts';
import type { Entry } from '../../store/journal.ts';
import { measuresOfRun, slicesInWords } from '../run/measure-run.ts';
import type { ChapterProof } from './chapter.ts';

/** What the last activity of that name in a run gave. */
export function outputOf<Output>(entries: readonly Entry[], activity: string): Output | undefined {
  const wanted = `xstate.done.actor.${activity}`;
  const found = entries.findLast(
    ({ type, body }) => type === 'event' && (body as { event?: { type?: string } }).event?.type === wanted,
  );
  return (found?.body as { event?: { output?: Output } } | undefined)?.event?.output;
}

/** How long a recovery took, in its slices; nothing where it was not shown to be over. */
export function recoveryTimeOf(
  runbook: string,
  entries: readonly Entry[],
): Pick<ChapterProof['measures'], 'rtoSeconds' | 'rtoHow'> {
  const measures = measuresOfRun(runbook, entries);
  if (measures === undefined || measures.unshown !== undefined || measures.time.unbound !== undefined)
    return {};
  return { rtoSeconds: secondsOf(measures.time.totalMs), rtoHow: slicesInWords(measures) };
}
