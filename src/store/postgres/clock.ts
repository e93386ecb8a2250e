import { uptime } from 'node:os';
import { performance } from 'node:perf_hooks';

const began = { steady: performance.now(), up: uptime() };

/**
 * Milliseconds since this module was loaded, by the clock that ran on furthest: none of them stands while the
 * process is stopped, and the system's uptime also counts while the whole machine sleeps (CLOCK_BOOTTIME).
 */
export function steadyNow(): number {
  return Math.max(performance.now() - began.steady, (uptime() - began.up) * 1_000);
}
