import type { Progress } from '../activities/activity.ts';
import type { Entry, Journal, Json } from '../store/journal.ts';
import type { Invocation } from './fold.ts';
import type { Note } from './performed.ts';
import type { ClockMark } from './run.ts';

/**
 * The note that a verb takes longer than expected, once for each limit. A later process finds earlier notes,
 * and a state that an answer enters again continues the same wait.
 */
export function noteOverdue(
  entries: readonly Entry[],
  state: string,
  { id, verb }: Invocation,
  { overdue }: Progress,
): Note | undefined {
  if (overdue === undefined || saidOf(entries, state, id) >= overdue.limitSeconds) return undefined;
  const { seconds, limitSeconds, basis, detail } = overdue;
  return { type: 'activity.overdue', body: { activity: id, verb, seconds, limitSeconds, basis, detail } };
}

/** The first of the consecutive events that led to the present state. */
export function arrivedAt(entries: readonly Entry[], state: string): string | undefined {
  let at = entries[0]?.at;
  for (const entry of entries.toReversed()) {
    if (entry.type !== 'event') continue;
    if ((entry.body as { readonly to?: string }).to !== state) break;
    at = entry.at;
  }
  return at;
}

/** The largest limit recorded since the run came to this state. */
function saidOf(entries: readonly Entry[], state: string, activity: string): number {
  let largest = 0;
  for (const entry of entries.toReversed()) {
    const body = entry.body as { readonly [field: string]: Json };
    if (entry.type === 'event' && body['to'] !== state) break;
    if (entry.type !== 'activity.overdue' || body['activity'] !== activity) continue;
    largest = Math.max(largest, Number(body['limitSeconds']));
  }
  return largest;
}

/** Smaller moves are not recorded: they are normal clock corrections. */
export const MIN_SECONDS = 5;

/** Goes before anything stamped with the new time, or follows a move of a clock that stamps nothing. */
export function clockNotes(movedSeconds: number, { stampedBy }: Pick<Journal, 'stampedBy'>): readonly Note[] {
  if (movedSeconds === 0) return [];
  const own = stampedBy === 'machine' ? {} : { entries: 'unmoved' };
  return [{ type: 'clock.moved', body: { seconds: movedSeconds, ...own } }];
}

/**
 * Whole seconds that the clock was moved while no process had the run: since the last mark of the same boot,
 * minus the moves recorded after it. 0 for less than five, or without a mark to compare with.
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
  return Math.abs(moved) < MIN_SECONDS ? 0 : moved;
}
