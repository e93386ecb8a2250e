import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import type { Clock, ClockMark } from '../../runner/run.ts';
import { MIN_SECONDS } from '../../runner/time-notes.ts';

/**
 * Watches the wall clock of this machine from now on. Compares it with the time since the machine was
 * started, which no user can set and which continues during sleep. If the system does not provide that,
 * compares it with the time of this process: then a sleep looks as if the clock had been set ahead. A change
 * of less than five seconds does not count.
 */
export function watchClock(now: () => number = Date.now, passed: () => number = secondsPassed): Clock {
  let lead = now() / 1000 - passed();
  return {
    moved: () => {
      const moved = Math.round(now() / 1000 - passed() - lead);
      if (Math.abs(moved) < MIN_SECONDS) return 0;
      lead += moved;
      return moved;
    },
    mark: clockMark,
  };
}

/**
 * The clock relative to the time since this machine was started; undefined if the system provides neither
 * that time nor the identity of the start.
 */
export function clockMark(): ClockMark | undefined {
  try {
    const start = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const boot = createHash('sha256').update(`${start}\n${hostname()}`).digest('hex').slice(0, 16);
    return { boot, leadSeconds: Math.round((Date.now() / 1000 - uptime()) * 10) / 10 };
  } catch {
    return undefined;
  }
}

function secondsPassed(): number {
  try {
    return uptime();
  } catch {
    return performance.now() / 1000;
  }
}
