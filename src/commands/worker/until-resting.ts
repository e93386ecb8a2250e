import { BUSY_VERBS, RESTING_VERBS } from '../../../machines/verbs.ts';

/** A run that this process drives, as far as its waiting goes. */
export interface AtWork {
  /** What it does now; undefined while it does nothing. `since`: RFC 3339. */
  activity(): { readonly verb: string; readonly since: string } | undefined;
  /** Gives how to listen no more. */
  subscribe(listener: () => void): () => void;
}

/** How long a call may be without an answer before it needs no place any more. Milliseconds. */
const SLOW_MS = 10_000;

/**
 * Resolves as soon as a run only waits: for a task, for a time, or for an answer that has been missing for
 * `slowMs`. A service that answers no call keeps no worker from other instances.
 */
export function untilResting(run: AtWork, slowMs = SLOW_MS): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let awaited: string | undefined;
  let slow: NodeJS.Timeout | undefined;
  const look = () => {
    const activity = run.activity();
    if (activity !== undefined && RESTING_VERBS.has(activity.verb)) return resolve();
    const answerOf =
      activity === undefined || BUSY_VERBS.has(activity.verb)
        ? undefined
        : `${activity.verb} ${activity.since}`;
    if (answerOf === awaited) return;
    awaited = answerOf;
    clearTimeout(slow);
    slow = answerOf === undefined ? undefined : setTimeout(resolve, slowMs).unref();
  };
  const unsubscribe = run.subscribe(look);
  look();
  return promise.finally(() => {
    unsubscribe();
    clearTimeout(slow);
  });
}
