import type { Entry } from './journal.ts';

const ENDS: ReadonlySet<string> = new Set(['run.closed', 'run.abandoned']);
/**
 * What is written without a look at the end: by a process that waited for the run while it ended, or that
 * takes an approval back at that moment.
 */
const MAY_FOLLOW: ReadonlySet<string> = new Set(['run.resumed', 'approval.withdrawn']);

/** Whether an entry ends its run: only the first such one of a stream counts. */
export function isEnd({ type }: Pick<Entry, 'type'>): boolean {
  return ENDS.has(type);
}

/** Whether the product itself may have written an entry behind the end of its run. */
export function mayFollowEnd({ type }: Pick<Entry, 'type'>): boolean {
  return MAY_FOLLOW.has(type);
}
