import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './slowest-first.ts';
import { settings } from './vitest.config.ts';

/** The tests that take long. */
export default defineConfig({
  test: { ...settings, include: ['test/**/*.long.test.ts'], sequence: { sequencer: SlowestFirst } },
});
