import { uptime } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { Session } from './link.ts';

const began = { steady: performance.now(), up: uptime() };

/**
 * Milliseconds since this module was loaded, by the clock that ran on furthest: none of them stands while the
 * process is stopped, and the system's uptime also counts while the whole machine sleeps (CLOCK_BOOTTIME).
 */
export function steadyNow(): number {
  return Math.max(performance.now() - began.steady, (uptime() - began.up) * 1_000);
}

/** The database's clock, asked once; it goes on by the time that passes here and is never behind. */
export async function databaseClock(session: Session): Promise<() => Date> {
  const asked = steadyNow();
  const [row] = await session.query<{ ms: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
  );
  const ahead = (row?.ms ?? Number.NaN) - asked;
  return () => new Date(ahead + steadyNow());
}
