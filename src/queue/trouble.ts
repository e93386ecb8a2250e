import { errorFrom, failureOf, LifeboatError } from '../base/errors.ts';
import type { QueueOptions } from './queue.ts';

/** Milliseconds in which the same trouble is reported once: every poll of every worker meets it. */
const AGAIN = 60_000;

/** Reports anything thrown in the background as our error, and the same one at most once a minute. */
export function createReport({ report }: QueueOptions): (thrown: unknown) => void {
  const reported = new Map<string, number>();
  return (thrown) => {
    const error = thrown instanceof LifeboatError ? thrown : errorFrom(failureOf(thrown));
    const key = `${error.code} ${error.shortMessage}`;
    const now = performance.now();
    for (const [other, at] of reported) if (now - at > AGAIN) reported.delete(other);
    if (reported.has(key)) return;
    reported.set(key, now);
    report(error);
  };
}

/** Seconds after which a failed handler is tried again, at first and at most. */
export const RETRY = { first: 15, most: 60 } as const;
