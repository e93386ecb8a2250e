import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Entry, Json } from '../../../src/store/journal.ts';
import { readFollowUps } from '../../../src/store/projections/follow-ups.ts';
import { readerOf } from './stories.ts';

const KEY = 'aaaaaaaaaaaa';
const OPENED = {
  id: `retire-key-${KEY}`,
  kind: 'retire-key',
  subject: KEY,
  what: `retire key ${KEY} of orders`,
  since: '2026-01-01T00:00:00.000Z',
  dueSeconds: 14 * 86_400,
};
const SETTLED = { id: OPENED.id, settlement: { how: 'hand', text: 'destroyed by Ada' } };
const opened = entry('obligation.opened', { obligation: OPENED, run: 'R1' });
const settled = entry('obligation.settled', SETTLED, '2026-01-20T00:00:00.000Z');

describe('the obligations of a ledger', () => {
  test('are those that were opened, with the instance and the run that they come from', async () => {
    expect(await followUps([opened])).toEqual([{ ...OPENED, commands: [], instance: 'orders', run: 'R1' }]);
  });

  test('are settled by what says so, at the time of that', async () => {
    const [obligation] = await followUps([opened, settled]);
    expect(obligation?.settled).toEqual({
      how: 'hand',
      text: 'destroyed by Ada',
      at: '2026-01-20T00:00:00.000Z',
      evidence: {},
    });
  });

  test('keep their first settlement, and are owed again when they are opened again', async () => {
    const later = entry('obligation.settled', { ...SETTLED, settlement: { how: 'skipped', text: 'no' } });
    expect((await followUps([opened, settled, later]))[0]?.settled?.how).toBe('hand');
    expect(await followUps([opened, settled, opened])).toMatchObject([{ id: OPENED.id }]);
    expect((await followUps([opened, settled, opened]))[0]?.settled).toBeUndefined();
  });

  test('of one instance are not settled by what happens to another', async () => {
    const elsewhere = [
      { ...settled, stream: 'instance/billing' },
      { ...keySet(KEY), stream: 'instance/billing' },
    ] as const;
    expect(await followUps([opened, ...elsewhere])).toMatchObject([{ instance: 'orders' }]);
    expect((await followUps([opened, ...elsewhere]))[0]?.settled).toBeUndefined();
    const two = await followUps([opened, { ...opened, stream: 'instance/billing' }, settled]);
    expect(two.map(({ instance, settled: by }) => [instance, by?.how])).toEqual([
      ['billing', undefined],
      ['orders', 'hand'],
    ]);
  });

  test('to retire a key end when the key is in force again, and only that key', async () => {
    expect((await followUps([opened, keySet('bbbbbbbbbbbb')]))[0]?.settled).toBeUndefined();
    expect((await followUps([opened, keySet(KEY)]))[0]?.settled).toMatchObject({
      how: 'run',
      text: 'the key is in force again',
    });
  });

  test('do not end by a settlement that cannot be read', async () => {
    const broken = [
      entry('obligation.settled', { id: OPENED.id }),
      entry('obligation.settled', { id: OPENED.id, settlement: { how: 'magic', text: '' } }),
      entry('obligation.settled', 'retire'),
      entry('obligation.settled', { ...SETTLED, id: 'another' }),
    ];
    expect((await followUps([opened, ...broken]))[0]?.settled).toBeUndefined();
  });

  test('are still owed when another version wrote them, as long as it is clear what they are', async () => {
    const half = entry('obligation.opened', {
      obligation: { id: 'x', kind: 'fresh-backup', what: 9 },
      run: 3,
    });
    expect(await followUps([half])).toEqual([
      {
        id: 'x',
        kind: 'fresh-backup',
        subject: 'x',
        what: 'see to x',
        commands: [],
        since: half.at,
        instance: 'orders',
      },
    ]);
  });

  test('are none in the journal of a run, whatever stands there', async () => {
    expect(await followUps([{ ...opened, stream: 'run/01J' }])).toEqual([]);
  });

  test('can be folded from anything', async () => {
    const bodies = fc.oneof(fc.jsonValue(), fc.constantFrom(opened.body, settled.body, keySet(KEY).body));
    const types = fc.constantFrom('obligation.opened', 'obligation.settled', 'key.set', 'future');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(types, bodies), { maxLength: 12 }), async (facts) => {
        const ledger = facts.map(([type, body]) => entry(type, body as Json));
        const ids = (await followUps(ledger)).map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });
});

type Written = Pick<Entry, 'stream' | 'type' | 'body' | 'at'>;

/** All follow-ups, as the store has them after these entries. */
function followUps(written: readonly Written[]) {
  return readFollowUps(
    readerOf(written.map((entry, index) => ({ ...entry, index, seq: index + 1, by: '', hash: '' }))),
    'all',
  );
}

function keySet(fingerprint: string): Written {
  return entry('key.set', { fingerprint, run: 'R2', answer: 'accepted' });
}

function entry(type: string, body: Json, at = '2026-01-02T00:00:00.000Z'): Written {
  return { stream: 'instance/orders', type, body, at };
}
