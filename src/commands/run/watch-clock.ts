import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import type { Clock, ClockMark } from '../../runner/run.ts';
import { MIN_SECONDS } from '../../runner/time-notes.ts';

/**
 * Watches this machine's wall clock against the time since its start, which no user can set and which
 * continues in sleep; without that against this process's time, where a sleep looks like a clock set ahead.
 * Ignores less than five seconds.
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

/** Against the machine's start; undefined if the system gives neither that time nor the start's identity. */
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
