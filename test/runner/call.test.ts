import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { AnyActivity } from '../../src/activities/activity.ts';
import { takeLedger } from '../../src/runner/call.ts';
import { withOneName } from '../../src/runner/one-name.ts';
import type { Journal } from '../../src/store/journal.ts';
import { PROJECTIONS } from '../../src/store/projected.ts';
import { ledgerNamesOf } from '../../src/store/projections/instance-names.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { freshSigner } from '../store/fresh-signer.ts';
import { callDeps, LOST, landed, sending } from './world.ts';

const CREATE = { verb: 'createBackup', input: {} };

test('a call is in the ledger before it is sent, and its answer afterwards', async () => {
  const journal = await openJournal();
  const seen: string[][] = [];
  const send = async () => {
    seen.push(await typesIn(journal));
    return landed(7);
  };
  const caller = await takeLedger(callDeps(journal, { createBackup: sending(send) }));
  const performed = await caller.perform({ ...CREATE, reason: 'before the update' });
  expect(performed).toMatchObject({ performed: { how: 'done', output: { id: 7 } } });
  const before = ['call.begun', 'activity.begun', 'intent.prepared', 'intent.armed'];
  expect(seen).toEqual([before]);
  expect(await typesIn(journal)).toEqual([...before, 'intent.outcome', 'call.ended']);
  expect(caller.open()).toEqual([]);
});

test('a call whose process died after arming it is looked up and never sent again', async () => {
  const journal = await openJournal();
  let sends = 0;
  const died = sending(async () => {
    sends += 1;
    throw DEATH;
  });
  await dying(journal, died);
  const judged = sending(
    async () => {
      sends += 1;
      return landed(9);
    },
    async () => ({ verdict: 'landed', output: { landed: true, id: 8, adopted: true }, evidence: {} }),
  );
  const caller = await takeLedger(callDeps(journal, { createBackup: judged }));
  const [open] = caller.open();
  expect(open).toMatchObject({ verb: 'createBackup' });
  if (open === undefined) throw new Error('nothing is open');
  expect(await caller.lookUp(open)).toMatchObject({ performed: { how: 'done', output: { id: 8 } } });
  expect(sends).toBe(1);
  expect(caller.open()).toEqual([]);
});

test('a call whose outcome cannot be found stays open until a person decides it', async () => {
  const journal = await openJournal();
  const failure = { code: 'doubt.ambiguous', shortMessage: 'two of them', hints: [], evidence: {} };
  const unclear = sending(
    async () => LOST,
    async () => ({ verdict: 'ambiguous', failure }),
  );
  const caller = await takeLedger(callDeps(journal, { createBackup: unclear }));
  expect(await caller.perform(CREATE)).toMatchObject({
    performed: { how: 'failed', failure: { code: 'doubt.ambiguous' } },
    lost: { code: 'service.timeout' },
  });
  const [open] = caller.open();
  if (open === undefined) throw new Error('nothing is open');
  await caller.decide(open, undefined, 'the platform operator has looked');
  expect(caller.open()).toEqual([]);
  await caller.release();
  const next = await takeLedger(callDeps(journal, { createBackup: unclear }));
  expect(next.open()).toEqual([]);
});

test('a call that was refused for its credentials is not open', async () => {
  const journal = await openJournal();
  const failure = { code: 'credentials.refused', shortMessage: 'no', hints: [], evidence: {} };
  const refused = sending(async () => ({ sent: 'absent', failure }));
  const caller = await takeLedger(callDeps(journal, { createBackup: refused }));
  expect(await caller.perform(CREATE)).toMatchObject({ performed: { how: 'paused' } });
  expect(caller.open()).toEqual([]);
});

test('a call that was refused but shows is adopted by the next with the same purpose, which sends nothing', async () => {
  const journal = await openJournal();
  const failure = { code: 'service.busy', shortMessage: 'too many requests', hints: [], evidence: {} };
  let sends = 0;
  let isShown = false;
  const evidence = { candidate: { id: 9 } };
  const refused = sending(
    async () => {
      sends += 1;
      return { sent: 'absent', refused: true, failure };
    },
    async () =>
      isShown
        ? { verdict: 'landed', output: { landed: true, id: 9, adopted: true }, evidence }
        : { verdict: 'wait', ms: 1, untilMs: 1, shows: 'nothing' },
  );
  const caller = await takeLedger(callDeps(journal, { createBackup: refused }));
  expect(await caller.perform(CREATE)).toMatchObject({ performed: { how: 'failed' } });
  expect(await caller.perform({ ...CREATE, input: { other: 1 } })).toMatchObject({
    performed: { how: 'failed' },
  });
  isShown = true;
  expect(await caller.perform(CREATE)).toMatchObject({
    performed: { how: 'done', output: { id: 9 } },
    lost: { code: 'service.busy' },
    evidence,
  });
  expect([sends, caller.open()]).toEqual([2, []]);
});

test('one process at a time calls an instance, and the second learns who does', async () => {
  const journal = await openJournal();
  const other = await openStore(journal.home, 'another');
  onTestFinished(() => other.close());
  const caller = await takeLedger(callDeps(journal, {}));
  await expect(takeLedger(callDeps(other, {}))).rejects.toMatchObject({ code: 'journal.held' });
  await caller.release();
  await (await takeLedger(callDeps(other, {}))).release();
});

test('facts for the ledger are written together with the end of the call', async () => {
  const journal = await openJournal();
  const fact = { type: 'key.set', body: { fingerprint: 'aaaaaaaaaaaa', run: 'x', answer: 'accepted' } };
  const setKey: AnyActivity = {
    kind: 'repeatable',
    run: async () => ({ ok: true, output: {}, ledger: [fact] }),
  };
  const caller = await takeLedger(callDeps(journal, { setKey }));
  await caller.perform({ verb: 'setKey', input: {} });
  expect((await typesIn(journal)).slice(-2)).toEqual(['call.ended', 'key.set']);
});

const DEATH = new Error('the process dies here');

/**
 * A call that ends in the middle of its send without writing anything more, as if the process were killed.
 */
test('if two begin at once with two names for one address, one sends', async () => {
  const journal = await openJournal();
  let sends = 0;
  const send = sending(async () => {
    sends += 1;
    return landed(7);
  });
  const deps = callDeps(journal, { createBackup: send });
  const first = await takeLedger(deps);
  const second = await takeLedger({ ...deps, instance: 'orders-prod' });
  const [one, other] = await Promise.all([first.perform(CREATE), second.perform(CREATE)]);
  const known = await ledgerNamesOf(journal);
  const [sender, refused] = known(deps.url) === 'orders' ? [one, other] : [other, one];
  expect(sender.performed.how).toBe('done');
  expect(refused.performed).toMatchObject({ how: 'failed', failure: { code: 'instance.other-name' } });
  expect(sends).toBe(1);
});

test('no ledger is held under a second name of its instance, and the hold is released', async () => {
  const journal = await openJournal();
  const deps = callDeps(journal, { createBackup: sending(async () => landed(7)) });
  const caller = await takeLedger(deps);
  await caller.perform(CREATE);
  await caller.release();
  const named = withOneName(journal, {
    'orders-prod': { url: deps.url.replace('service-instances', 'v1/instances') },
    other: { url: 'https://service.example/service-instances/other' },
  });
  await expect(named.hold('instance/orders-prod')).rejects.toMatchObject({
    code: 'instance.other-name',
    exitCode: 2,
  });
  await expect(journal.holder('instance/orders-prod')).resolves.toBeUndefined();
  for (const stream of ['instance/orders', 'instance/other', 'run/X'] as const)
    await (await named.hold(stream)).release();
});

async function dying(journal: Journal, activity: AnyActivity): Promise<void> {
  const armed: Journal = {
    ...journal,
    append: async (entries, holds) => {
      if (entries.some(({ type }) => type === 'intent.outcome')) throw DEATH;
      return journal.append(entries, holds);
    },
  };
  const caller = await takeLedger(callDeps(armed, { createBackup: activity }));
  await expect(caller.perform(CREATE)).rejects.toBe(DEATH);
  await caller.release();
}

async function typesIn(journal: Journal): Promise<string[]> {
  return (await journal.read('instance/orders')).map(({ type }) => type);
}

async function openJournal(): Promise<Journal & { readonly home: string }> {
  const home = await mkdtemp(join(tmpdir(), 'lifeboat-call-'));
  const journal = await openStore(home, 'tester');
  onTestFinished(async () => {
    await journal.close();
    await rm(home, { recursive: true, force: true });
  });
  return { ...journal, home };
}

function openStore(home: string, by: string): Promise<Journal> {
  return openSqliteStore({ home, by, signer: freshSigner(), projections: PROJECTIONS });
}
