import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/**
 * Plain Vitest: real processes need time on a busy two-core machine, so the limits are generous. What takes a quarter of a minute
 * and more (files `*.long.test.ts`) has a run of its own, so that the others stay short enough to be run at every change.
 */
export const settings = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  pool: 'forks' as const,
  // Most tests wait for processes of their own: leaving a core free, as is the default, would leave it idle.
  maxWorkers: Math.max(2, availableParallelism()),
};

export default defineConfig({
  test: {
    ...settings,
    include: ['test/**/*.test.{ts,tsx}'],
    exclude: ['test/bench/**', 'test/crash/**', 'test/**/*.long.test.ts'],
  },
});
