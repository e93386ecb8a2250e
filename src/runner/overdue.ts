import type { Progress } from '../activities/activity.ts';
import type { Entry, Json } from '../store/journal.ts';
import type { Invocation } from './fold.ts';
import type { Note } from './performed.ts';

/**
 * What the record is to say of a verb that takes longer than it should; nothing when it says so already for
 * this limit. A process that comes later finds what was said before, and a state that is entered again by an
 * answer is still the same waiting.
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

/** When the run came to the state that it is in: the first of the events in a row that led there. */
export function arrivedAt(entries: readonly Entry[], state: string): string | undefined {
  let at = entries[0]?.at;
  for (const entry of entries.toReversed()) {
    if (entry.type !== 'event') continue;
    if ((entry.body as { readonly to?: string }).to !== state) break;
    at = entry.at;
  }
  return at;
}

/** The largest limit that the record names since the run came to this state. */
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
