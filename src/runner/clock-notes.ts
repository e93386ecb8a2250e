import type { Entry, Journal } from '../store/journal.ts';
import type { Note } from './performed.ts';
import type { ClockMark } from './run.ts';

/** A clock that is kept right by small steps is not reported of. */
export const LEAST_SECONDS = 5;

/** What the journal is to say before anything that is written with the new time, or after the clock was moved beside a database's. */
export function clockNotes(movedSeconds: number, { stampedBy }: Pick<Journal, 'stampedBy'>): readonly Note[] {
  if (movedSeconds === 0) return [];
  const own = stampedBy === 'machine' ? {} : { entries: 'unmoved' };
  return [{ type: 'clock.moved', body: { seconds: movedSeconds, ...own } }];
}

/**
 * By how many whole seconds the clock was moved while no process had the run: since the last mark of the same start of the same machine, with
 * what was reported of after it. 0 for less than five, and where there is nothing to compare with.
 */
export function movedMeanwhile(entries: readonly Entry[], mark: ClockMark | undefined): number {
  let last: ClockMark | undefined;
  let reported = 0;
  for (const entry of entries) {
    const { seconds, clock } = (entry.body ?? {}) as {
      readonly seconds?: number;
      readonly clock?: ClockMark;
    };
    if (entry.type === 'clock.moved') reported += seconds ?? 0;
    if (entry.type !== 'run.started' && entry.type !== 'run.resumed') continue;
    last = clock;
    reported = 0;
  }
  if (mark === undefined || last === undefined || mark.boot !== last.boot) return 0;
  const moved = Math.round(mark.leadSeconds - last.leadSeconds - reported);
  return Math.abs(moved) < LEAST_SECONDS ? 0 : moved;
}
