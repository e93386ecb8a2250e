import { describe, expect, test } from 'vitest';
import { textOf } from '../../src/tui/line.ts';
import { chartLines, sparkline } from '../../src/tui/screens/instance/instance-sections.ts';
import { ASCII, LOOK } from './fake-fleet.ts';

describe('a sparkline', () => {
  test.each([
    [[], 9, ''],
    [[1, 2, 3, 4, 5, 6, 7, 8], 8, '▁▂▃▄▅▆▇█'],
    [[1, 2, 3], 2, '▁█'],
    [[5, 5, 5], 9, '▁▁▁'],
    [[1, Number.NaN, 2], 9, '▁█'],
    [[-Number.MAX_VALUE, Number.MAX_VALUE], 9, '▁█'],
    [[1, 2], 0, ''],
  ])('of %j in %i cells', (values, width, text) => {
    expect(sparkline(values, width, LOOK).text).toBe(text);
  });

  test('needs no Unicode', () => {
    expect(sparkline([1, 2, 3, 4, 5, 6, 7, 8], 8, ASCII).text).toBe('.:-=+*%#');
  });
});

test('a chart of several rows shows each value as a column', () => {
  const rows = chartLines([0, 8, 15], 10, 2, LOOK).map(textOf);
  expect(rows).toEqual(['  █', '▁██'].map((row) => row.replace('  █', ' ▁█')));
});
