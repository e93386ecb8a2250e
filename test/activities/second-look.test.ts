import { describe, expect, test } from 'vitest';
import type { Bound } from '../../machines/parts/recovery-data.ts';
import { type FoundApp, mergeKeys, remembering } from '../../src/activities/find-bound.ts';

const RUN = '01K6ZX3T0RUN';
const BEFORE = { guid: 'old', name: 'db', parametersFile: '/private/shop.json' };
const FOUND_AT = '2026-05-01T10:00:00Z';

function seen(bindings: NonNullable<FoundApp['bindings']>): FoundApp {
  const [newest] = bindings;
  return {
    key: 'shop',
    name: 'shop',
    from: 'platform',
    ...(newest === undefined ? {} : { binding: { guid: newest.guid } }),
    bindings,
  };
}

/** The binding to remove after a second look. */
function goes(...bindings: NonNullable<FoundApp['bindings']>) {
  const remember = { apps: [{ ...seen([]), binding: BEFORE }], foundAt: FOUND_AT } as unknown as Bound;
  return remembering([seen(bindings)], remember, RUN)[0]?.binding;
}

describe('after a second look at the platform', () => {
  test('the old binding still has to be removed when the run has bound a new one beside it', () => {
    expect(goes({ guid: 'new', run: RUN }, { guid: 'old' })).toEqual(BEFORE);
  });

  test('bindings that the run, or someone since, has made need not be removed', () => {
    expect(goes({ guid: 'new', run: RUN })).toEqual(BEFORE);
    expect(goes({ guid: 'new', createdAt: '2026-05-01T10:00:01Z' })).toEqual(BEFORE);
  });

  test('a binding that had replaced it earlier has to be removed, and the next one gets the same settings', () => {
    expect(goes({ guid: 'other', createdAt: '2026-05-01T09:59:59Z' })).toEqual({ ...BEFORE, guid: 'other' });
  });

  test('a service key that is gone by now must be recreated, with its parameters', () => {
    const report = { name: 'report', guid: 'k', parametersFile: '/private/report.json' };
    expect(mergeKeys([{ name: 'audit', guid: 'a' }], [report])).toEqual([
      { name: 'audit', guid: 'a' },
      report,
    ]);
    expect(mergeKeys([{ name: 'report', guid: 'k2' }], [report])).toEqual([{ ...report, guid: 'k2' }]);
  });
});
