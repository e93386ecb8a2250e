import { uptime } from 'node:os';

/** Two clocks of the machine in milliseconds, each from its own start. */
export interface Readings {
  /** Advances evenly, and stands still while the machine sleeps. */
  readonly even: number;
  /** Counts sleep too (CLOCK_BOOTTIME), in steps of 10 ms. */
  readonly sinceBoot: number;
}

/** The clock that counts sleep may lag by one step at either reading. */
const STEP_MS = 10;
/** At a larger difference the machine has slept: steps alone never add up to it. */
const SLEEP_MS = 5 * STEP_MS;

/**
 * Milliseconds from now on that no change of the time of day moves: never behind the time passed, sleep
 * included, and ahead of it by at most two steps. Between two readings at least as much passes as by the even
 * clock.
 */
export function steadyClock(read: () => Readings): () => number {
  const began = read();
  let slept = 0;
  return () => {
    const { even, sinceBoot } = read();
    const passed = even - began.even;
    const missed = sinceBoot - began.sinceBoot - passed;
    if (missed > slept + SLEEP_MS) slept = missed + STEP_MS;
    return passed + slept;
  };
}

/** Milliseconds since this module was loaded, including those in which this process was stopped. */
export const steadyNow = steadyClock(() => ({ even: performance.now(), sinceBoot: uptime() * 1_000 }));
