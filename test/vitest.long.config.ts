import { defineConfig } from 'vitest/config';
import { oxc, settings, ssr } from './vitest.config.ts';

/** The tests that take long. Some of them change their process, so each file has one of its own. */
export default defineConfig({
  oxc,
  ssr,
  test: { ...settings, include: ['test/**/*.long.test.ts'] },
});
