import { expect, test } from 'vitest';
import { inGroups } from '../../../src/compose/survey.ts';

const NAMES = Array.from({ length: 10_000 }, (_, at) => `db-${at}`);

test('the records of ten thousand instances are read in groups, each once, and none is kept', async () => {
  const sizes: number[] = [];
  const read: string[] = [];
  const recordOf = inGroups(NAMES, {
    of: async (names) => {
      sizes.push(names.length);
      read.push(...names);
      return new Map(names.map((name) => [name, { state: 'failed', at: new Date(0), code: name, why: '' }]));
    },
    close: async () => undefined,
  });
  const [first = '', ...rest] = NAMES;
  expect(await recordOf(first)).toMatchObject({ code: first });
  expect(read.length).toBeLessThanOrEqual(200);
  // As when eight are asked at a time, and one of them is the slowest.
  for (const name of rest.toReversed()) expect(await recordOf(name)).toMatchObject({ code: name });
  expect(Math.max(...sizes)).toBeLessThanOrEqual(200);
  expect(read.toSorted()).toEqual(NAMES.toSorted());
});
