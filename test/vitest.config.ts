import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Plain Vitest: real processes need time on a busy two-core machine, so the limits are generous. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    exclude: ['test/bench/**', 'test/crash/**'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Most tests wait for processes of their own: leaving a core free, as is the default, would leave it idle.
    maxWorkers: Math.max(2, availableParallelism()),
  },
});
