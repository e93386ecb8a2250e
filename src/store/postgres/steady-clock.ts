import { uptime } from 'node:os';

/** Milliseconds by two clocks of the machine, each from a beginning of its own. */
export interface Readings {
  /** Advances evenly, and stands still while the machine sleeps. */
  readonly even: number;
  /** Counts sleep as well (CLOCK_BOOTTIME), in steps of 10 ms. */
  readonly sinceBoot: number;
}

/** The clock that counts sleep may lag by one of its steps at either reading. */
const STEP_MS = 10;
/** A difference from which on the machine has slept: steps alone never add up to it. */
const SLEEP_MS = 5 * STEP_MS;

/**
 * A clock in milliseconds from now on that no change of the time of day moves: never behind what passed
 * since, sleep of the machine included, and ahead of it by at most two steps. Between two readings at least
 * as much passes by it as by the even clock.
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

/** Milliseconds since this module was loaded, those included in which this process was stopped. */
export const steadyNow = steadyClock(() => ({ even: performance.now(), sinceBoot: uptime() * 1_000 }));
