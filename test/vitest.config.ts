import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { quickFolder } from './quick-folder.ts';

/**
 * Plain Vitest: real processes need time on a busy two-core machine, so the limits are generous. What takes
 * ten seconds and more (files `*.long.test.ts`) has a run of its own, so that the others stay short enough to
 * be run at every change.
 */
export const settings = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  pool: 'forks' as const,
  // The tests wait for a process, a disk or a clock for a third of their time: one file for each core would
  // leave the cores idle.
  maxWorkers: Math.max(2, availableParallelism()) + 1,
  env: { TMPDIR: quickFolder() },
};

export default defineConfig({
  test: {
    ...settings,
    // A process for each file would load Vitest and half of the product three hundred times. So no file may
    // change what others see: module state, the environment, the working folder.
    isolate: false,
    include: ['test/**/*.test.{ts,tsx}'],
    exclude: ['test/bench/**', 'test/crash/**', 'test/**/*.long.test.ts'],
  },
});
