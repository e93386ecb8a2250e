import { setTimeout as rest } from 'node:timers/promises';
import { failedError, hasCode, stopped } from './problem.ts';

/** How often the platform is looked at, and how long operations may take. Milliseconds. */
export interface Pace {
  readonly firstMs: number;
  readonly slowestMs: number;
  /** Looks for the effect of a lost answer, before this attempt gives up. */
  readonly looks: number;
  /** Staging of an application; the tool `cf` waits as long (CF_STAGING_TIMEOUT). */
  readonly stagingMs: number;
  /** From the last progress of a start until it counts as failed; `cf` waits as long (CF_STARTUP_TIMEOUT). */
  readonly startupMs: number;
  /** How long to wait for a broker to remove a binding: one that is gone never will. */
  readonly unbindMs: number;
  /** The same for creating a binding, and for other operations between the two. */
  readonly bindMs: number;
  /** How long to tolerate a platform that does not answer during a wait. */
  readonly patienceMs: number;
}

export const DEFAULT_PACE: Pace = {
  firstMs: 250,
  slowestMs: 5_000,
  looks: 5,
  stagingMs: 15 * 60_000,
  startupMs: 5 * 60_000,
  unbindMs: 10 * 60_000,
  bindMs: 10 * 60_000,
  patienceMs: 2 * 60_000,
};

export interface Waiting {
  readonly signal: AbortSignal;
  readonly pace: Pace;
  /** Named if it takes too long: `the staging of orders-api`. */
  readonly what: string;
  /** Without it only the signal ends the wait. Milliseconds. */
  readonly limitMs?: number | undefined;
}

/** Errors that may pass: unreachable, too busy, a page or a broken answer. */
const PASSING = ['platform.unreachable', 'platform.busy', 'platform.bad-answer'] as const;

/**
 * Looks again, at growing intervals, until a look returns something. Rejects with `platform.stopped`, with
 * `platform.failed` after the limit, and with the errors of a look; a platform that cannot be asked is
 * tolerated for `patienceMs`.
 */
export async function waitFor<T>(waiting: Waiting, look: () => Promise<T | undefined>): Promise<T> {
  const { signal, pace, what, limitMs } = waiting;
  const since = Date.now();
  let seenAt = since;
  let pause = pace.firstMs;
  for (;;) {
    if (signal.aborted) throw stopped();
    try {
      const found = await look();
      if (found !== undefined) return found;
      seenAt = Date.now();
    } catch (thrown) {
      const passing = hasCode(thrown, ...PASSING) && Date.now() - seenAt < pace.patienceMs;
      if (!passing) throw thrown;
    }
    if (limitMs !== undefined && Date.now() - since >= limitMs) {
      throw failedError(`${what} has not ended within ${Math.round(limitMs / 60_000)} minutes`, '');
    }
    await pauseFor(pause, signal);
    pause = Math.min(pause * 1.5, pace.slowestMs);
  }
}

/** A few looks for the effect of a lost answer; undefined if nothing shows. */
export async function lookFor<T>(
  pace: Pace,
  signal: AbortSignal,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  for (let looks = 1; ; looks += 1) {
    const found = await look();
    if (found !== undefined || looks >= pace.looks) return found;
    await pauseFor(pace.firstMs * looks, signal);
  }
}

/** Rejects with `platform.stopped` if the signal is aborted. */
export async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await rest(ms, undefined, { signal });
  } catch {
    throw stopped();
  }
}
