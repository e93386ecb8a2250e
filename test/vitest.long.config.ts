import { defineConfig } from 'vitest/config';
import { oxc, settings, ssr } from './vitest.config.ts';

/**
 * The tests that take long. They wait for leases and in-flight windows for half of their time: with one file
 * more at a time than the short ones, the cores have work meanwhile.
 */
export default defineConfig({
  oxc,
  ssr,
  test: { ...settings, maxWorkers: settings.maxWorkers + 1, include: ['test/**/*.long.test.ts'] },
});
