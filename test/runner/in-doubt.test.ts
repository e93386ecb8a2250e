import { expect, test } from 'vitest';
import { runbooks } from '../../machines/index.ts';
import type { RunbookId } from '../../machines/parts/touches.ts';
import type { AnyActivity } from '../../src/activities/activity.ts';
import { inDoubt, readDoubts } from '../../src/runner/assert-not-in-doubt.ts';
import { appendHolding } from '../../src/runner/holds.ts';
import { decideDoubt, lookUp } from '../../src/runner/resolve-doubt.ts';
import { abandonRun, findRun, startRun } from '../../src/runner/runs.ts';
import type { Journal, Json, StreamName } from '../../src/store/journal.ts';
import type { Doubt } from '../../src/store/projections/pending-calls.ts';
import { asking, LOST, makeWorld, obedient, sending, type World } from './world.ts';

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
      'what was sent and when: lifeboat runs --in-doubt',
      'to ask the service, which sends nothing: lifeboat resume call-1 --look',
      expect.stringContaining('lifeboat resume call-1 --became ID|nothing --reason WHY'),
    ]),
  });
  expect(await world.journal.streams('run/')).toHaveLength(1);
});

test('a call left by a run that is over is asked about by the id of the run', async () => {
  const input = { backup: 102 };
  const call = { intent: 'restore-0', verb: 'restoreBackup', armedAt: '2026-11-21T03:00:00Z', input };
  const doubt = { ...call, instance: 'orders', run: { runId: 'R1', isOpen: false }, baseline: null };
  expect(inDoubt(doubt).hints).toEqual(
    expect.arrayContaining([
      'to ask the service, which sends nothing: lifeboat resume R1 --look',
      expect.stringContaining('lifeboat resume R1 --became ID|nothing'),
    ]),
  );
});

test('a backup in doubt does not keep a run from beginning, since another backup is harmless', async () => {
  const world = await closedWorld();
  await arm(world.journal, 'instance/orders', 'call-1', 'createBackup', {});
  expect(await startRun(world.journal, start('orders'))).toEqual(expect.any(String));
});

test("a run is not resumed while another's call is in doubt, but is resumed for a call of its own", async () => {
  const world = await makeWorld(obedient());
  await arm(world.journal, `run/${world.runId}`, 'restore-0', 'restoreBackup', { backup: 3 });
  const run = await world.takeUp();
  await run.detach();
  await arm(world.journal, 'instance/orders', 'call-1', 'restoreToTime', {
    targetTime: '2026-11-21T02:59:00Z',
  });
  await expect(world.takeUp()).rejects.toMatchObject({ code: 'call.in-doubt', exitCode: 5 });
});

test('a restore that an abandoned run left in doubt stops every other change, until the service shows what it became', async () => {
  const world = await makeWorld(obedient());
  const { journal, runId } = world;
  const armedAt = await arm(journal, `run/${runId}`, 'restore-0', 'restoreBackup', { backup: 3 }, [1, 2]);
  const left = await abandonRun(journal, await findRun(journal), 'superseded');
  expect(left).toMatchObject([{ verb: 'restoreBackup', instance: 'orders', armedAt }]);
  await expect(startRun(journal, start('orders'))).rejects.toMatchObject({ code: 'call.in-doubt' });
  const [open, another] = await readDoubts(journal, 'orders');
  expect(another).toBeUndefined();
  expect(open).toMatchObject({ run: { runId, isOpen: false }, armedAt, input: { backup: 3 } });
  const memories: unknown[] = [];
  const found = await lookUp(open as Doubt, judging(journal, memories));
  expect(found).toMatchObject({ landed: true, id: 9 });
  expect(memories).toMatchObject([{ armedAt, baseline: [1, 2] }]);
  expect(await readDoubts(journal, 'orders')).toEqual([]);
  expect((await journal.read(`run/${runId}`)).at(-1)?.type).toBe('run.abandoned');
  expect((await journal.read('instance/orders')).at(-1)).toMatchObject({
    type: 'call.decided',
    body: { verb: 'restoreBackup', landed: true, became: 9 },
  });
  expect(await startRun(journal, start('orders'))).toEqual(expect.any(String));
});

test('after a run is over, a call that was refused and sent again is judged from its first arming and its refusal', async () => {
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
  const [open] = await readDoubts(journal, 'orders');
  await lookUp(open as Doubt, judging(journal, memories));
  expect(memories).toMatchObject([{ ...known, lostAt, refusal: 'doubtful', lost: failure }]);
});

test('a single call of an earlier version stays in doubt and stops every other change, until a person decides it', async () => {
  const { journal } = await closedWorld();
  await arm(journal, 'instance/orders', 'call-1', 'restoreBackup', { backup: 3 });
  const [open] = await readDoubts(journal, 'orders');
  expect(open).toMatchObject({ intent: 'call-1', verb: 'restoreBackup', input: { backup: 3 } });
  await decideDoubt(open as Doubt, judging(journal, []), { landed: false, id: undefined }, 'no such task');
  expect(await readDoubts(journal, 'orders')).toEqual([]);
  expect(await startRun(journal, start('orders'))).toEqual(expect.any(String));
  await expect(lookUp(open as Doubt, judging(journal, []))).rejects.toMatchObject({ code: 'call.unknown' });
});

test('a call stays in doubt as long as the service shows nothing certain, and nothing is written', async () => {
  const { journal } = await closedWorld();
  await arm(journal, 'instance/orders', 'call-1', 'restoreBackup', { backup: 3 });
  const [open] = await readDoubts(journal, 'orders');
  const before = await journal.log.head();
  const failure = { code: 'doubt.ambiguous', shortMessage: 'two of them', hints: [], evidence: {} };
  const unclear = sending(
    async () => {
      throw new Error('a look sends nothing');
    },
    async () => ({ verdict: 'ambiguous', failure }),
  );
  expect(await lookUp(open as Doubt, asking(journal, { restoreBackup: unclear }))).toEqual(failure);
  expect(await journal.log.head()).toEqual(before);
  expect(await readDoubts(journal, 'orders')).toHaveLength(1);
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

test('a recovery in doubt counts as in doubt for the target only', async () => {
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

test('a call in doubt on the source does not stop a recovery that does not touch the source', async () => {
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

function judging(journal: Journal, memories: unknown[]) {
  const once = sending(async () => LOST) as AnyActivity & { kind: 'once' };
  const restoreBackup = {
    ...once,
    judge: async (_: never, memory: unknown) => {
      memories.push(memory);
      return { verdict: 'landed', output: LOOKED, evidence: {} };
    },
  } as unknown as AnyActivity;
  return asking(journal, { restoreBackup });
}
