import { expect, test } from 'vitest';
import { newId } from '../../src/runner/runs.ts';

test('ids sort by the time of their creation', () => {
  expect(newId(1) < newId(2)).toBe(true);
});

test('a clock before 1970 is named, and nothing begins', () => {
  expect(() => newId(-1)).toThrow(
    expect.objectContaining({
      code: 'clock.unusable',
      shortMessage: 'the clock of this machine is set before 1970',
    }),
  );
});
