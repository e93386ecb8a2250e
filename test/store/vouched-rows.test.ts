import { expect, test } from 'vitest';
import { dateAt } from '../../src/base/date.ts';
import { instanceNames } from '../../src/store/projections/instance-names.ts';
import { KnownRows, type StoredRow, sumOf } from '../../src/store/vouched-rows.ts';

const row = (at: number): StoredRow => ({
  key: `id-${at}`,
  group: 'known',
  sort: dateAt(at * 1_000).toISOString(),
  value: `"orders-${at}"`,
});
const rows = (from: number, count: number) => Array.from({ length: count }, (_, at) => row(from + at));

test('a row that is older than the newest, and was added after it, is among those that are read again', () => {
  const known = new KnownRows();
  const first = rows(0, 2_000);
  expect(known.add(instanceNames, first, sumOf(instanceNames, first))).toBe(true);

  const late = { ...row(1_800), key: 'late' };
  expect(late.sort >= known.since).toBe(true);
  const again = [...first.filter(({ sort }) => sort >= known.since), late];
  expect(again.length).toBeLessThan(600);
  expect(known.add(instanceNames, again, sumOf(instanceNames, [...first, late]))).toBe(true);
  expect(known.count).toBe(2_001);
  expect(known.read(['late', 'id-0']).map(({ value }) => value)).toEqual(['orders-1800', 'orders-0']);
});

test('few rows are all read again', () => {
  const known = new KnownRows();
  expect(known.since).toBe('');
  const few = rows(0, 100);
  known.add(instanceNames, few, sumOf(instanceNames, few));
  expect(known.since).toBe('');
});

test('rows that are not what was signed add nothing', () => {
  const known = new KnownRows();
  const first = rows(0, 600);
  known.add(instanceNames, first, sumOf(instanceNames, first));
  const { since } = known;
  expect(known.add(instanceNames, rows(600, 100), sumOf(instanceNames, rows(0, 699)))).toBe(false);
  expect(known.count).toBe(600);
  expect(known.since).toBe(since);
});
