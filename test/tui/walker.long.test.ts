import { expect, test } from 'vitest';
import { SCREENS, walk } from './walker.ts';

/** Others are tried with `node test/tui/walker.ts --seed N --keys N`. */
test.each([1, 20_780])(
  'ten thousand keys on every screen, with resizes, pastes and held keys: no crash, no broken frame (seed %i)',
  { timeout: 3_000_000 },
  async (seed) => {
    const walked = await walk({ seed, keys: 10_000 });
    for (const name of SCREENS) expect(walked.get(name), name).toBeGreaterThan(10);
    for (const name of ['run', 'palette', 'help', 'notice'])
      expect(walked.get(name), name).toBeGreaterThan(5);
  },
);
