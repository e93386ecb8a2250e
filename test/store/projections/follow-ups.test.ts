import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Entry, Json } from '../../../src/store/journal.ts';
import { readFollowUps } from '../../../src/store/projections/follow-ups.ts';
import { readerOf } from './generated-entries.ts';

const KEY = 'aaaaaaaaaaaa';
const OPENED = {
  id: `retire-key-${KEY}`,
  kind: 'retire-key',
  subject: KEY,
  what: `retire key ${KEY} of orders`,
  since: '2026-01-01T00:00:00.000Z',
  dueSeconds: 14 * 86_400,
};
const CLOSED = { id: OPENED.id, closure: { how: 'hand', text: 'destroyed by Ada' } };
const opened = entry('follow-up.opened', { followUp: OPENED, run: 'R1' });
const closed = entry('follow-up.closed', CLOSED, '2026-01-20T00:00:00.000Z');

describe('the follow-ups of a ledger', () => {
  test('are those that were opened, with their instance and run', async () => {
    expect(await followUps([opened])).toEqual([{ ...OPENED, commands: [], instance: 'orders', run: 'R1' }]);
  });

  test('are closed by their closing entry, at its time', async () => {
    const [followUp] = await followUps([opened, closed]);
    expect(followUp?.closed).toEqual({
      how: 'hand',
      text: 'destroyed by Ada',
      at: '2026-01-20T00:00:00.000Z',
      evidence: {},
    });
  });

  test('keep their first closure, and are open again when they are opened again', async () => {
    const later = entry('follow-up.closed', { ...CLOSED, closure: { how: 'skipped', text: 'no' } });
    expect((await followUps([opened, closed, later]))[0]?.closed?.how).toBe('hand');
    expect(await followUps([opened, closed, opened])).toMatchObject([{ id: OPENED.id }]);
    expect((await followUps([opened, closed, opened]))[0]?.closed).toBeUndefined();
  });

  test('of one instance are not closed by what happens to another', async () => {
    const elsewhere = [
      { ...closed, stream: 'instance/billing' },
      { ...keySet(KEY), stream: 'instance/billing' },
    ] as const;
    expect(await followUps([opened, ...elsewhere])).toMatchObject([{ instance: 'orders' }]);
    expect((await followUps([opened, ...elsewhere]))[0]?.closed).toBeUndefined();
    const two = await followUps([opened, { ...opened, stream: 'instance/billing' }, closed]);
    expect(two.map(({ instance, closed: by }) => [instance, by?.how])).toEqual([
      ['billing', undefined],
      ['orders', 'hand'],
    ]);
  });

  test('to retire a key are closed when that key is in force again, and only then', async () => {
    expect((await followUps([opened, keySet('bbbbbbbbbbbb')]))[0]?.closed).toBeUndefined();
    expect((await followUps([opened, keySet(KEY)]))[0]?.closed).toMatchObject({
      how: 'run',
      text: 'the key is in force again',
    });
  });

  test('are not closed by an unreadable closure', async () => {
    const broken = [
      entry('follow-up.closed', { id: OPENED.id }),
      entry('follow-up.closed', { id: OPENED.id, closure: { how: 'magic', text: '' } }),
      entry('follow-up.closed', 'retire'),
      entry('follow-up.closed', { ...CLOSED, id: 'another' }),
    ];
    expect((await followUps([opened, ...broken]))[0]?.closed).toBeUndefined();
  });

  test('are still open if another version wrote them, as long as it is clear what they are', async () => {
    const half = entry('follow-up.opened', {
      followUp: { id: 'x', kind: 'fresh-backup', what: 9 },
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

  test('do not come from the journal of a run, whatever it contains', async () => {
    expect(await followUps([{ ...opened, stream: 'run/01J' }])).toEqual([]);
  });

  test('can be folded from any entries', async () => {
    const bodies = fc.oneof(fc.jsonValue(), fc.constantFrom(opened.body, closed.body, keySet(KEY).body));
    const types = fc.constantFrom('follow-up.opened', 'follow-up.closed', 'key.set', 'future');
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

/** All follow-ups in the store after these entries. */
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
