import { expect, test } from 'vitest';
import { keyChecks, withoutKeys } from '../../../src/commands/doctor/keys-held.ts';
import { foldLedger } from '../../../src/store/projections/ledgers.ts';

const KEY = 'aaaaaaaaaaaa';

const SET = { type: 'key.set', body: { fingerprint: KEY, run: 'R', answer: 'accepted' } };

function ledgerWith(...entries: readonly object[]) {
  return foldLedger(
    entries.map((entry, at) => ({ seq: at + 1, at: '2026-03-10T10:00:00Z', ...entry }) as never),
  );
}

function unopened(code: string, id = 7) {
  return { type: 'backup.unopened', body: { backup: { id }, code, tried: [KEY] } };
}

const backup = (id: number) => ({ id, status: 'done', triggered_at: `2026-03-10T1${id}:00:00Z` });
const LISTED = { value: [backup(6), backup(7)], skew: undefined };

const shown = (entries: readonly object[], held = [KEY], listed: typeof LISTED | 'unknown' = LISTED) =>
  keyChecks('orders', {
    ledger: ledgerWith(...entries),
    listed: listed === 'unknown' ? undefined : listed,
    held,
  } as never);

test('a newest backup that no held key opens is bad, and named, with what to do', () => {
  expect(shown([SET, unopened('backup.wrong-key')])).toEqual([
    {
      what: 'orders: keys',
      state: 'bad',
      found:
        'no key held here opens backup 7: 1 key tried (tried 2026-03-10 10:00:00 UTC): ' +
        'another key may be in force',
      hints: [
        expect.stringContaining('put the key store back from a copy'),
        'or store the key again: lifeboat keys add orders',
        'or set a new key, and prove it with a backup: lifeboat run rotate-key orders',
      ],
    },
  ]);
  expect(shown([unopened('backup.wrong-key')])).toMatchObject([{ what: 'orders: keys', state: 'bad' }]);
});

test('a damaged newest backup is bad, although all its keys are held', () => {
  expect(shown([SET, unopened('backup.corrupt')])).toMatchObject([
    { what: 'orders: keys', state: 'ok' },
    {
      what: 'orders: newest backup',
      state: 'bad',
      found: expect.stringContaining('backup 7 is damaged'),
      hints: ['make another, and prove it: lifeboat run back-up-and-verify orders'],
    },
  ]);
});

test('an older backup that could not be opened, and one from before a key was added, cause no finding', () => {
  const fine = [
    { what: 'orders: keys', state: 'ok', found: `every key that may be in force is held: ${KEY}` },
  ];
  expect(shown([SET, unopened('backup.wrong-key', 6)])).toMatchObject(fine);
  expect(shown([SET, unopened('backup.wrong-key')], [KEY, 'bbbbbbbbbbbb'])).toMatchObject(fine);
  expect(shown([SET, unopened('backup.wrong-key')], [KEY], 'unknown')).toMatchObject(fine);
  expect(shown([SET])).toMatchObject(fine);
});

test('a key that may be in force and is not held is bad', () => {
  expect(shown([SET], [])).toMatchObject([
    { state: 'bad', found: `may be in force and is not held: ${KEY}` },
  ]);
});

test('instances without any key are named together, with the ways to store or set one', () => {
  expect(withoutKeys([])).toEqual([]);
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  expect(withoutKeys(names)).toEqual([
    {
      what: 'keys',
      state: 'warn',
      found: 'no key is held or on record, so no backup can be opened: a, b, c, d, e, 2 more',
      hints: [
        'if you have the key: lifeboat keys add a',
        'the keys of many, as DIR/INSTANCE.key: lifeboat keys add --folder DIR',
        'or set one, and prove it with a backup: lifeboat run rotate-key a',
      ],
    },
  ]);
});
