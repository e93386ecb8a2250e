import type { Entry, Journal } from '../store/journal.ts';
import type { Note } from './performed.ts';
import type { ClockMark } from './run.ts';

/** Smaller moves are not noted: they are the steps that keep a clock right. */
export const LEAST_SECONDS = 5;

/**
 * What the journal is to say before anything that is written with the new time, or after the clock was moved
 * beside a database's.
 */
export function clockNotes(movedSeconds: number, { stampedBy }: Pick<Journal, 'stampedBy'>): readonly Note[] {
  if (movedSeconds === 0) return [];
  const own = stampedBy === 'machine' ? {} : { entries: 'unmoved' };
  return [{ type: 'clock.moved', body: { seconds: movedSeconds, ...own } }];
}

/**
 * By how many whole seconds the clock was moved while no process had the run: since the last mark of the same
 * start of the same machine, less the moves noted after it. 0 for less than five, and where there is nothing
 * to compare with.
 */
export function movedMeanwhile(entries: readonly Entry[], mark: ClockMark | undefined): number {
  let last: ClockMark | undefined;
  let noted = 0;
  for (const entry of entries) {
    const { seconds, clock } = (entry.body ?? {}) as {
      readonly seconds?: number;
      readonly clock?: ClockMark;
    };
    if (entry.type === 'clock.moved') noted += seconds ?? 0;
    if (entry.type !== 'run.started' && entry.type !== 'run.resumed') continue;
    last = clock;
    noted = 0;
  }
  if (mark === undefined || last === undefined || mark.boot !== last.boot) return 0;
  const moved = Math.round(mark.leadSeconds - last.leadSeconds - noted);
  return Math.abs(moved) < LEAST_SECONDS ? 0 : moved;
}
