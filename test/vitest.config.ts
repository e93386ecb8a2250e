import { availableParallelism } from 'node:os';
import process from 'node:process';
import { defineConfig } from 'vitest/config';
import { quickFolder } from './quick-folder.ts';
import { SlowestFirst } from './slowest-first.ts';

/**
 * Plain Vitest: real processes need time on a busy machine, so each limit is ten times what is usual. What
 * takes ten seconds and more (files `*.long.test.ts`) has a run of its own, so that the others stay short
 * enough to be run at every change.
 */
export const settings = {
  sequence: { sequencer: SlowestFirst },
  testTimeout: 600_000,
  hookTimeout: 600_000,
  // What is waited for comes on a busy machine too. A poll that gives up after Vitest's second would time it.
  expect: { poll: { timeout: 300_000, interval: 20 } },
  pool: 'forks' as const,
  // The tests wait for a process, a disk or a clock for half of their time: one file for each core would
  // leave the cores idle.
  maxWorkers: Math.max(2, availableParallelism()) + 2,
  // React and XState as the product has them. Their other variant checks what it is given, at each call.
  env: { TMPDIR: quickFolder(), NODE_ENV: 'production' },
};

// Vite asks packages for their `development` variant, unless it finds this before it resolves anything.
process.env['NODE_ENV'] = 'production';

/** What else packages are asked for: XState then comes as modules, as in the product. */
export const ssr = { resolve: { conditions: ['module', 'node'] } };

/** As `NODE_ENV` has React: the other way to make elements is missing there. */
export const oxc = { jsx: { runtime: 'automatic' as const, development: false } };

export default defineConfig({
  oxc,
  ssr,
  test: {
    ...settings,
    // A process for each file would load Vitest and half of the product three hundred times. So no file may
    // change what others see: module state, the environment, the working folder.
    isolate: false,
    // The heap grows to half a gigabyte and stays so: V8 need not go through all of it on the way there.
    execArgv: ['--initial-heap-size=1000'],
    include: ['test/**/*.test.{ts,tsx}'],
    exclude: ['test/bench/**', 'test/crash/**', 'test/**/*.long.test.ts'],
  },
});
