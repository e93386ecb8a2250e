import type { Verdict } from './table.ts';

/** The exit code that a run without a person leaves with (design: command line). */
export const EXIT_OF = {
  on: 0,
  retry: 0,
  failed: 1,
  wait: 3,
  ask: 3,
  token: 4,
  doubt: 5,
} as const satisfies Partial<Record<Verdict, number>>;
