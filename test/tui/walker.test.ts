import { expect, test } from 'vitest';
import { walk } from './walker.ts';

test.each([1, 2])(
  'random keys break no frame, and do nothing that was not requested (seed %i)',
  async (seed) => {
    const walked = await walk({ seed, keys: 400 });
    expect([...walked.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(400);
  },
);
