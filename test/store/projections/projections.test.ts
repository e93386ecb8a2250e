import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { gatherFollowUps } from '../../../src/compose/open-follow-ups.ts';
import { assertNotInDoubt, readAllDoubts, readDoubts } from '../../../src/runner/assert-not-in-doubt.ts';
import { refusedBefore } from '../../../src/runner/perform-send.ts';
import { findRun, listRuns, openRunsOn } from '../../../src/runner/runs.ts';
import type { Entry, Json, NewEntry } from '../../../src/store/journal.ts';
import { PROJECTIONS } from '../../../src/store/projected.ts';
import { readFollowUps } from '../../../src/store/projections/follow-ups.ts';
import { foldEpochs } from '../../../src/store/projections/key-epochs.ts';
import { namesKeys, readLedger } from '../../../src/store/projections/ledgers.ts';
import {
  armedIn,
  doubtsOfStream,
  pendingCalls,
  readLedgerTail,
} from '../../../src/store/projections/pending-calls.ts';
import { journalOf, KEYS, ledgerEntries, readerOf, recorded, runEntries } from './generated-entries.ts';
import { wholeDoubts, wholeFollowUps, wholeRecord, wholeRetiring, wholeRun } from './whole.ts';

const INSTANCES = ['orders', 'dr'];

describe('the projections of runs and calls equal a fold of all entries', () => {
  test('of each recorded run, after each of its entries', async () => {
    for (const history of recorded())
      for (const [index] of history.entries()) {
        const entries = history.slice(0, index + 1).map((entry, at): Entry => ({ ...entry, index: at }));
        const { instance = '', target = instance } = bodyOf(entries[0]);
        await expectWhole(entries, [instance, target]);
      }
  });

  test('of any interleaving of runs and single commands', async () => {
    await fc.assert(
      fc.asyncProperty(runEntries, (entries) => expectWhole(entries, INSTANCES)),
      { numRuns: 400 },
    );
  });

  async function expectWhole(entries: readonly Entry[], instances: readonly string[]): Promise<void> {
    const reader = readerOf(entries);
    const streams = [...new Set(entries.map(({ stream }) => stream))].filter((name) =>
      name.startsWith('run/'),
    );
    const of = (stream: string) => entries.filter((entry) => entry.stream === stream);
    expect(plain(await listRuns(reader))).toEqual(plain(streams.map((stream) => wholeRun(of(stream)))));
    for (const instance of new Set(instances)) {
      const whole = wholeDoubts(instance, entries);
      expect(plain(await readDoubts(reader, instance))).toEqual(plain(whole));
      const [ledger, tail] = [
        of(`instance/${instance}`),
        await readLedgerTail(reader, `instance/${instance}`),
      ];
      const stream = `instance/${instance}` as const;
      expect(doubtsOfStream(stream, tail)).toEqual(doubtsOfStream(stream, ledger));
      for (const [verb, backup] of [
        ['restoreBackup', 0],
        ['createBackup', 1],
        ['performRecovery', 2],
      ] as const) {
        const wish = { intent: 'call-99', verb, input: { backup } };
        expect(refusedBefore(tail, wish)).toEqual(refusedBefore(ledger, wish));
      }
    }
  }
});

test('the projections of ledgers equal a fold of their entries', async () => {
  await fc.assert(
    fc.asyncProperty(ledgerEntries, async (entries) => {
      const reader = readerOf(entries);
      for (const instance of INSTANCES) {
        const ledger = entries.filter(({ stream }) => stream === `instance/${instance}`);
        const { epochs, card, proven, retiring } = await readLedger(reader, instance);
        expect(epochs).toEqual(foldEpochs(ledger));
        expect({ card, proven }).toEqual(wholeRecord(ledger));
        expect(KEYS.filter((key) => retiring.includes(key))).toEqual(
          KEYS.filter((key) => wholeRetiring(ledger, key)),
        );
        for (const which of ['open', 'all'] as const) {
          const found = (await readFollowUps(reader, which)).filter((one) => one.instance === instance);
          const whole = wholeFollowUps(ledger).filter(([, how]) => which === 'all' || how === undefined);
          expect(found.map(({ id, closed }) => [id, closed?.how])).toEqual(whole);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('a checkpoint names every call that is armed and has no outcome, in any stream', async () => {
  await fc.assert(
    fc.asyncProperty(runEntries, async (entries) => {
      const reader = readerOf(entries);
      const armed = armedIn(await reader.rows(pendingCalls.name));
      const doubts = await readAllDoubts(reader);
      const name = ({ instance, intent }: { instance: string; intent: string }) => `${instance} ${intent}`;
      expect(armed.map(name).sort()).toEqual(doubts.map(name).sort());
      for (const { stream, at } of armed)
        expect(
          entries.some(
            (entry) => entry.stream === stream && (entry.at === at || bodyOf(entry)['armedAt'] === at),
          ),
        ).toBe(true);
    }),
    { numRuns: 200 },
  );
});

test('unreadable entries change no row and break no fold', () => {
  const types = fc.constantFrom(
    ...[
      'run.started',
      'run.closed',
      'run.paused',
      'event',
      'activity.begun',
      'intent.prepared',
      'intent.armed',
    ],
    ...[
      'intent.outcome',
      'intent.judged',
      'call.begun',
      'call.decided',
      'call.ended',
      'key.set',
      'key.proven',
    ],
    ...['card.prepared', 'follow-up.opened', 'follow-up.closed', 'approval.given', 'future'],
  );
  const body = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        ...{
          instance: fc.jsonValue(),
          intent: fc.constantFrom('i', 'run-R1-i', 7),
          key: fc.constantFrom('i', null),
        },
        ...{ call: fc.constantFrom('i', 'run-R1-i', []), failure: fc.jsonValue(), sent: fc.jsonValue() },
        ...{ verb: fc.jsonValue(), followUp: fc.jsonValue(), id: fc.jsonValue(), event: fc.jsonValue() },
      },
      { requiredKeys: [] },
    ),
  );
  const streams = fc.constantFrom('run/R1', 'instance/orders', 'store/log');
  fc.assert(
    fc.property(fc.array(fc.tuple(streams, types, body), { maxLength: 30 }), (facts) => {
      const entries = journalOf(
        facts.map(([stream, type, its]) => ({ stream: stream as Entry['stream'], type, body: its as Json })),
      );
      expect(() => readerOf(entries)).not.toThrow();
    }),
  );
});

test.each([
  ['proven', 'run.closed', { outcome: 'done', proven: true }],
  ['not proven', 'run.closed', { outcome: 'done-unproven', proven: false }],
  ['stopped', 'run.closed', { outcome: 'stopped', proven: false }],
  ['abandoned', 'run.abandoned', { reason: 'superseded' }],
  [undefined, 'run.detached', { why: 'left' }],
] as const)('a list of runs says that a run is %s', async (result, type, body) => {
  const begun = { runbook: 'rotate-key', version: '1', instance: 'shop', mode: 'LIVE', input: {} };
  const stream = 'run/R';
  const entries = journalOf([
    { stream, type: 'run.started', body: begun },
    { stream, type, body },
  ]);
  const [run] = await listRuns(readerOf(entries));
  expect(run?.result).toBe(result);
});

test('closed runs add no cost to a command that does not list them', async () => {
  const [history = []] = recorded().filter((entries) => entries.at(-1)?.type === 'run.closed');
  const costs = [10, 200].map(async (count) => {
    const runs = Array.from({ length: count }, (_, number): NewEntry[] => {
      const stream = `run/${String(number).padStart(6, '0')}` as const;
      return [...history.map(({ type, body }) => ({ stream, type, body })), ...leftBy(number)];
    });
    const begun = { runbook: 'rotate-key', version: '1', instance: 'shop', mode: 'LIVE', input: {} };
    const reader = readerOf(
      journalOf([...runs.flat(), { stream: 'run/OPEN', type: 'run.started', body: begun }]),
    );
    // `resume`, `runs --open`, `runs --limit`, `followups`, the start of a run, `runs --in-doubt`,
    // `keys list`.
    await findRun(reader);
    await findRun(reader, 'OP');
    await listRuns(reader, 5);
    await openRunsOn(reader, ['orders']);
    await gatherFollowUps(reader);
    await assertNotInDoubt(reader, ['orders', 'shop']);
    await readLedgerTail(reader, 'instance/orders');
    await readAllDoubts(reader);
    await readLedger(reader, 'orders');
    await namesKeys(reader);
    return reader.asked;
  });
  const [few, many] = await Promise.all(costs);
  expect(many).toEqual(few);
});

/** What a finished run writes into the ledger of its instance. */
function leftBy(number: number): readonly NewEntry[] {
  const stream = 'instance/orders';
  const key = { fingerprint: KEYS[0] ?? '', run: 'R' };
  const backup = { id: number, backup_id: `b-${number}` };
  const followUp = {
    id: `fresh-backup-${number}`,
    kind: 'fresh-backup',
    subject: 'orders',
    what: 'back up',
  };
  const closure = { how: 'hand', text: 'done' };
  const intent = { intent: `call-${number}`, verb: 'restart' };
  return [
    ['key.proven', { ...key, backup, verdict: 'readable', cipherSha256: '0', negative: 'refused' }],
    ['follow-up.opened', { followUp, run: 'R' }],
    ['follow-up.closed', { id: followUp.id, closure }],
    ['call.begun', { call: intent.intent, verb: intent.verb, input: {} }],
    ['intent.prepared', { ...intent, baseline: [] }],
    ['intent.armed', intent],
    ['intent.outcome', { ...intent, sent: 'landed', output: {} }],
    ['call.ended', { call: intent.intent, verb: intent.verb, how: 'done' }],
  ].map(([type, body]) => ({ stream, type: type as string, body: body as Json }));
}

test('each row has a key and a group that a database accepts', () => {
  fc.assert(
    fc.property(fc.oneof(runEntries, ledgerEntries), (entries) => {
      for (const { keysOf } of PROJECTIONS)
        for (const entry of entries) for (const key of keysOf(entry)) expect(key).toMatch(/^.{1,200}$/u);
    }),
    { numRuns: 50 },
  );
  const long = { followUp: { id: 'x'.repeat(500), kind: 'rebind' } };
  const [entry] = journalOf([{ stream: 'instance/orders', type: 'follow-up.opened', body: long }]);
  for (const { keysOf } of PROJECTIONS)
    for (const key of entry === undefined ? [] : keysOf(entry)) expect(key.length).toBeLessThanOrEqual(200);
});

/** As returned by a database. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function bodyOf(entry: Entry | undefined): Readonly<Record<string, string | undefined>> {
  return (entry?.body ?? {}) as Readonly<Record<string, string>>;
}
