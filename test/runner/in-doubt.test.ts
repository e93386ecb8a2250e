import { expect, test } from 'vitest';
import { runbooks } from '../../machines/index.ts';
import type { RunbookId } from '../../machines/parts/touches.ts';
import type { AnyActivity } from '../../src/activities/activity.ts';
import { inDoubt, readDoubts } from '../../src/runner/assert-not-in-doubt.ts';
import { takeLedger } from '../../src/runner/call.ts';
import { appendHolding, Holds } from '../../src/runner/holds.ts';
import { RunLog } from '../../src/runner/run-log.ts';
import { abandonRun, findRun, startRun } from '../../src/runner/runs.ts';
import type { Journal, Json, StreamName } from '../../src/store/journal.ts';
import { callDeps, LOST, makeWorld, obedient, sending, type World } from './world.ts';

const LOOKED: { landed: true; id: number; adopted: boolean } = { landed: true, id: 9, adopted: true };

test('no run begins while a restore of the ledger is in doubt, and the refusal says what to do', async () => {
  const world = await closedWorld();
  await arm(world.journal, 'instance/orders', 'call-1', 'restoreBackup', { backup: 102 });
  await expect(startRun(world.journal, start('orders'))).rejects.toMatchObject({
    code: 'call.in-doubt',
    exitCode: 5,
    shortMessage: expect.stringMatching(
      /^the restore of backup 102 on orders, sent \d{4}-.* UTC, is in doubt$/u,
    ),
    hints: expect.arrayContaining([
      'what was sent and when: lifeboat calls list --instance orders',
      'to ask the service, which sends nothing: lifeboat calls ask call-1 --instance orders',
      expect.stringContaining('lifeboat calls resolve call-1 --instance orders --became ID|nothing'),
    ]),
  });
  expect(await world.journal.streams('run/')).toHaveLength(1);
});

test('a call left by a closed run is named as in the ledger', async () => {
  const input = { backup: 102 };
  const call = { intent: 'restore-0', verb: 'restoreBackup', armedAt: '2026-11-21T03:00:00Z', input };
  const doubt = { ...call, instance: 'orders', run: { runId: 'R1', isOpen: false }, baseline: null };
  expect(inDoubt(doubt).hints).toEqual(
    expect.arrayContaining([
      'to ask the service, which sends nothing: lifeboat calls ask run-R1-restore-0 --instance orders',
      expect.stringContaining('lifeboat calls resolve run-R1-restore-0 --instance orders --became'),
    ]),
  );
});

test('a backup in doubt keeps no run from beginning: another backup is harmless', async () => {
  const world = await closedWorld();
  await arm(world.journal, 'instance/orders', 'call-1', 'createBackup', {});
  expect(await startRun(world.journal, start('orders'))).toEqual(expect.any(String));
});

test("a run is not taken up while another's call is in doubt, but is for a call of its own", async () => {
  const world = await makeWorld(obedient());
  await arm(world.journal, `run/${world.runId}`, 'restore-0', 'restoreBackup', { backup: 3 });
  const run = await world.takeUp();
  await run.detach();
  await arm(world.journal, 'instance/orders', 'call-1', 'restoreToTime', {
    targetTime: '2026-11-21T02:59:00Z',
  });
  await expect(world.takeUp()).rejects.toMatchObject({ code: 'call.in-doubt', exitCode: 5 });
});

test('a restore that a run left in doubt moves to the ledger when the run is abandoned, with its baseline and its time', async () => {
  const world = await makeWorld(obedient());
  const { journal, runId } = world;
  const armedAt = await arm(journal, `run/${runId}`, 'restore-0', 'restoreBackup', { backup: 3 }, [1, 2]);
  const left = await abandonRun(journal, await findRun(journal), 'superseded');
  expect(left).toMatchObject([{ verb: 'restoreBackup', instance: 'orders', armedAt }]);
  await expect(startRun(journal, start('orders'))).rejects.toMatchObject({ code: 'call.in-doubt' });
  const memories: unknown[] = [];
  const caller = await takeLedger(judgingDeps(journal, memories));
  const [open, another] = caller.open();
  expect(another).toBeUndefined();
  expect(open).toMatchObject({ verb: 'restoreBackup', armedAt, input: { backup: 3 } });
  if (open === undefined) throw new Error('nothing was handed on');
  expect(await caller.lookUp(open)).toMatchObject({ performed: { how: 'done', output: { id: 9 } } });
  expect(memories).toMatchObject([{ armedAt, baseline: [1, 2] }]);
  await caller.release();
  expect(await readDoubts(journal, 'orders')).toEqual([]);
  expect(await startRun(journal, start('orders'))).toEqual(expect.any(String));
});

test('a call that was refused and sent again keeps its first arming and its refusal when it moves to the ledger', async () => {
  const { journal, runId } = await makeWorld(obedient());
  const stream = `run/${runId}` as const;
  const mark = { intent: 'restore-0', verb: 'restoreBackup' };
  const failure = { code: 'service.busy', shortMessage: 'too many requests', hints: [], evidence: {} };
  const [first, lostAt] = ['2026-11-21T03:00:00.000Z', '2026-11-21T03:04:00.000Z'];
  const known = { armedAt: '2026-11-21T03:03:00.000Z', firstArmedAt: first };
  const begun = {
    activity: 'restore',
    verb: mark.verb,
    kind: 'once',
    key: mark.intent,
    input: { backup: 3 },
  };
  const bodies = [
    ['activity.begun', begun],
    ['intent.prepared', { ...mark, baseline: [] }],
    ['intent.armed', { ...mark, armedAt: first }],
    ['intent.outcome', { ...mark, sent: 'absent', refused: true, failure }],
    ['intent.armed', { ...mark, armedAt: known.armedAt }],
    ['intent.outcome', { ...mark, sent: 'unknown', refused: true, failure, lostAt }],
  ] as const;
  await appendHolding(
    journal,
    bodies.map(([type, body]) => ({ stream, type, body })),
  );
  await abandonRun(journal, await findRun(journal), 'superseded');
  const memories: unknown[] = [];
  const caller = await takeLedger(judgingDeps(journal, memories));
  const [open] = caller.open();
  if (open === undefined) throw new Error('nothing was handed on');
  await caller.lookUp(open);
  expect(memories).toMatchObject([{ ...known, lostAt, refusal: 'doubtful', lost: failure }]);
  await caller.release();
});

test('a call in doubt when a run is stopped moves to the ledger with its end, in one transaction', async () => {
  const { journal, runId } = await makeWorld(obedient());
  const stream = `run/${runId}` as const;
  await arm(journal, stream, 'restore-0', 'restoreBackup', { backup: 3 });
  const writes: string[][] = [];
  const telling: Journal = {
    ...journal,
    append: (entries, holds) => {
      writes.push(entries.map(({ type }) => type));
      return journal.append(entries, holds);
    },
  };
  await using holds = new Holds(journal);
  await holds.take(stream, 'instance/orders');
  const log = new RunLog(
    { journal: telling, runId, instance: 'orders', now: () => new Date() },
    await journal.read(stream),
    holds,
  );
  await log.close([{ type: 'run.closed', body: { outcome: 'stopped' } }]);
  await holds.release();
  expect(writes).toEqual([['run.closed', 'call.begun', 'intent.prepared', 'intent.armed']]);
  await expect(startRun(journal, start('orders'))).rejects.toMatchObject({ code: 'call.in-doubt' });
  expect(await readDoubts(journal, 'orders')).toMatchObject([
    { verb: 'restoreBackup', input: { backup: 3 } },
  ]);
});

test('calls left by a run abandoned earlier are moved into the ledger by the next call, once', async () => {
  const world = await makeWorld(obedient());
  const { journal, runId } = world;
  await arm(journal, `run/${runId}`, 'restore-0', 'restoreBackup', { backup: 3 });
  await appendHolding(journal, [
    { stream: `run/${runId}`, type: 'run.abandoned', body: { reason: 'before' } },
  ]);
  await expect(startRun(journal, start('orders'))).rejects.toMatchObject({ code: 'call.in-doubt' });
  for (const _ of [1, 2]) {
    const caller = await takeLedger(judgingDeps(journal, []));
    expect(caller.open()).toMatchObject([{ verb: 'restoreBackup', input: { backup: 3 } }]);
    await caller.release();
  }
  const caller = await takeLedger(judgingDeps(journal, []));
  const [open] = caller.open();
  if (open === undefined) throw new Error('nothing is open');
  await caller.decide(open, undefined, 'the dashboard shows none');
  await caller.release();
  expect(await startRun(journal, start('orders'))).toEqual(expect.any(String));
});

test('a call that a person decided in a run is no longer in doubt; looking again and stopping decide nothing', async () => {
  for (const [event, isDecided] of [
    ['operator.adopt', true],
    ['operator.sendAgain', true],
    ['operator.hasBegun', true],
    ['operator.lookAgain', false],
    ['operator.stop', false],
  ] as const) {
    const { journal, runId } = await makeWorld(obedient());
    await arm(journal, `run/${runId}`, 'restore-0', 'restoreBackup', { backup: 3 });
    const body = { event: { type: event }, to: 'somewhere' };
    await appendHolding(journal, [{ stream: `run/${runId}`, type: 'event', body }]);
    expect((await readDoubts(journal, 'orders')).length, event).toBe(isDecided ? 0 : 1);
  }
});

test('a recovery in doubt is in doubt on the target, and only there', async () => {
  const { journal } = await closedWorld();
  const runId = await startRun(journal, { ...start('orders'), target: 'orders-dr' });
  await arm(journal, `run/${runId}`, 'restore-0', 'performRecovery', { backupGuid: 'g' });
  expect(await readDoubts(journal, 'orders')).toEqual([]);
  expect(await readDoubts(journal, 'orders-dr')).toMatchObject([{ verb: 'performRecovery', run: { runId } }]);
  const [run] = (await journal.streams('run/')).filter(({ stream }) => stream.endsWith(runId));
  expect(run).toBeDefined();
  await abandonRun(journal, await findRun(journal, runId), 'superseded');
  await expect(startRun(journal, start('orders-dr'))).rejects.toMatchObject({ code: 'call.in-doubt' });
  expect(await startRun(journal, start('orders'))).toEqual(expect.any(String));
});

test('a call in doubt on the source stops no recovery that leaves the source alone', async () => {
  const { journal } = await closedWorld();
  await arm(journal, 'instance/orders', 'call-1', 'restoreBackup', { backup: 102 });
  const recovery = (mode: string) => ({
    ...start('orders', 'disaster-recovery'),
    target: 'orders-dr',
    input: { instance: 'orders', target: 'orders-dr', mode },
  });
  await expect(startRun(journal, recovery('both'))).rejects.toMatchObject({ code: 'call.in-doubt' });
  expect(await startRun(journal, recovery('perform'))).toEqual(expect.any(String));
});

function start(instance: string, id: RunbookId = 'rotate-key') {
  const runbook = runbooks[id];
  if (runbook === undefined) throw new Error('the runbook is gone');
  return {
    runbook,
    instance,
    input: { instance },
    mode: 'LIVE' as const,
    operator: 'tester',
    tool: { name: 'lifeboat', version: '0', node: 'v24' },
  };
}

async function closedWorld(): Promise<World> {
  const world = await makeWorld(obedient());
  await abandonRun(world.journal, await findRun(world.journal), 'superseded');
  return world;
}

/** What a process leaves if it is killed while waiting for the answer. Returns the moment of arming. */
async function arm(
  journal: Journal,
  stream: StreamName,
  intent: string,
  verb: string,
  input: Readonly<Record<string, Json>>,
  baseline: Json = [],
): Promise<string> {
  const mark = { intent, verb };
  const begun = { activity: 'restore', verb, kind: 'once', key: intent, input: { ...input, intent } };
  const call = { stream, type: 'call.begun', body: { call: intent, verb, input } };
  const written = await appendHolding(journal, [
    ...(stream.startsWith('instance/') ? [call] : []),
    { stream, type: 'activity.begun', body: begun },
    { stream, type: 'intent.prepared', body: { ...mark, baseline } },
    { stream, type: 'intent.armed', body: mark },
  ]);
  const armed = written.find(({ type }) => type === 'intent.armed');
  if (armed === undefined) throw new Error('nothing was armed');
  return armed.at;
}

function judgingDeps(journal: Journal, memories: unknown[]) {
  const judging = sending(async () => LOST) as AnyActivity & { kind: 'once' };
  const restoreBackup = {
    ...judging,
    judge: async (_: never, memory: unknown) => {
      memories.push(memory);
      return { verdict: 'landed', output: LOOKED, evidence: {} };
    },
  } as unknown as AnyActivity;
  return callDeps(journal, { restoreBackup });
}
