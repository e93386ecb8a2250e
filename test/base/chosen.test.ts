import { describe, expect, test } from 'vitest';
import { meantBy } from '../../src/base/similar.ts';

const ITEMS = [
  { id: 'rebind-orders', run: '01A', at: '2026-03-02T00:00:00Z' },
  { id: 'rebind-orders-api', run: '01A', at: '2026-03-03T00:00:00Z' },
  { id: 'fresh-backup', run: '01B', at: '2026-03-01T00:00:00Z' },
];

const idsMeantBy = (word: string) =>
  meantBy(
    word,
    ITEMS,
    ({ id, run }) => [id, `${run}:${id}`],
    ({ at }) => at,
  ).map(({ id }) => id);

describe('a word means', () => {
  test.each([
    ['fresh', ['fresh-backup']],
    ['01B:f', ['fresh-backup']],
    ['last', ['rebind-orders-api']],
    ['rebind', ['rebind-orders', 'rebind-orders-api']],
    ['nothing', []],
    ['', []],
  ])('%s: %j', (word, ids) => {
    expect(idsMeantBy(word)).toEqual(ids);
  });

  test('the one with exactly that id before all that begin with it', () => {
    expect(idsMeantBy('rebind-orders')).toEqual(['rebind-orders']);
    expect(idsMeantBy('01A:rebind-orders')).toEqual(['rebind-orders']);
  });
});
