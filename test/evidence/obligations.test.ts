import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { foldObligations, type LedgerEntry, retirable } from '../../src/evidence/obligations.ts';
import type { Json } from '../../src/store/journal.ts';

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
  test('are those that were opened, with the instance and the run that they come from', () => {
    expect(foldObligations([opened])).toEqual([{ ...OPENED, commands: [], instance: 'orders', run: 'R1' }]);
  });

  test('are settled by what says so, at the time of that', () => {
    const [obligation] = foldObligations([opened, settled]);
    expect(obligation?.settled).toEqual({
      how: 'hand',
      text: 'destroyed by Ada',
      at: '2026-01-20T00:00:00.000Z',
      evidence: {},
    });
  });

  test('keep their first settlement, and are owed again when they are opened again', () => {
    const later = entry('obligation.settled', { ...SETTLED, settlement: { how: 'skipped', text: 'no' } });
    expect(foldObligations([opened, settled, later])[0]?.settled?.how).toBe('hand');
    expect(foldObligations([opened, settled, opened])).toMatchObject([{ id: OPENED.id }]);
    expect(foldObligations([opened, settled, opened])[0]?.settled).toBeUndefined();
  });

  test('of one instance are not settled by what happens to another', () => {
    const elsewhere = [
      { ...settled, stream: 'instance/billing' },
      { ...keySet(KEY), stream: 'instance/billing' },
    ] as const;
    expect(foldObligations([opened, ...elsewhere])).toMatchObject([{ instance: 'orders' }]);
    expect(foldObligations([opened, ...elsewhere])[0]?.settled).toBeUndefined();
    const two = foldObligations([opened, { ...opened, stream: 'instance/billing' }, settled]);
    expect(two.map(({ instance, settled: by }) => [instance, by?.how])).toEqual([
      ['orders', 'hand'],
      ['billing', undefined],
    ]);
  });

  test('to retire a key end when the key is in force again, and only that key', () => {
    expect(foldObligations([opened, keySet('bbbbbbbbbbbb')])[0]?.settled).toBeUndefined();
    expect(foldObligations([opened, keySet(KEY)])[0]?.settled).toMatchObject({
      how: 'run',
      text: 'the key is in force again',
    });
  });

  test('do not end by a settlement that cannot be read', () => {
    const broken = [
      entry('obligation.settled', { id: OPENED.id }),
      entry('obligation.settled', { id: OPENED.id, settlement: { how: 'magic', text: '' } }),
      entry('obligation.settled', 'retire'),
      entry('obligation.settled', { ...SETTLED, id: 'another' }),
    ];
    expect(foldObligations([opened, ...broken])[0]?.settled).toBeUndefined();
  });

  test('are still owed when another version wrote them, as long as it is clear what they are', () => {
    const half = entry('obligation.opened', {
      obligation: { id: 'x', kind: 'fresh-backup', what: 9 },
      run: 3,
    });
    expect(foldObligations([half])).toEqual([
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

  test('are none in the journal of a run, whatever stands there', () => {
    expect(foldObligations([{ ...opened, stream: 'run/01J' }])).toEqual([]);
  });

  test('can be folded from anything', () => {
    const bodies = fc.oneof(fc.jsonValue(), fc.constantFrom(opened.body, settled.body, keySet(KEY).body));
    const types = fc.constantFrom('obligation.opened', 'obligation.settled', 'key.set', 'future');
    fc.assert(
      fc.property(fc.array(fc.tuple(types, bodies), { maxLength: 12 }), (facts) => {
        const ledger = facts.map(([type, body]) => entry(type, body as Json));
        const ids = foldObligations(ledger).map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });
});

describe('a key that can be retired', () => {
  const due = new Date('2026-01-15T00:00:00.000Z');

  test('is one whose retention has passed', () => {
    const found = foldObligations([opened]);
    expect(retirable(found, due)).toEqual(found);
    expect(retirable(found, new Date(due.getTime() - 1))).toEqual([]);
  });

  test('is none that is settled, has no deadline, or is something else that is due', () => {
    const { dueSeconds: _, ...open } = OPENED;
    const others = [
      [opened, settled],
      [entry('obligation.opened', { obligation: open })],
      [entry('obligation.opened', { obligation: { ...OPENED, kind: 'remove-target' } })],
    ];
    for (const ledger of others) expect(retirable(foldObligations(ledger), due)).toEqual([]);
  });
});

function keySet(fingerprint: string): LedgerEntry {
  return entry('key.set', { fingerprint, run: 'R2', answer: 'accepted' });
}

function entry(type: string, body: Json, at = '2026-01-02T00:00:00.000Z'): LedgerEntry {
  return { stream: 'instance/orders', type, body, at };
}
