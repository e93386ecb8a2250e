import { expect, test } from 'vitest';
import { planStep, runbooks } from '../../machines/index.ts';
import { statePath } from '../../machines/parts/states.ts';
import { fold, foldGrowing } from '../../src/runner/fold.ts';
import { abandonRun, findRun, listRuns, startRun } from '../../src/runner/runs.ts';
import type { Entry } from '../../src/store/journal.ts';
import { makeWorld, obedient, reaches, rotated } from './world.ts';

test('a second run of an instance is refused while one is open, with both ways out', async () => {
  const world = await makeWorld(obedient());
  const runbook = runbooks['rotate-key'];
  if (runbook === undefined) throw new Error('the runbook is gone');
  const start = {
    runbook,
    instance: 'orders',
    input: { instance: 'orders' },
    mode: 'LIVE' as const,
    operator: 'tester',
    tool: { name: 'lifeboat', version: '0', node: 'v24' },
  };
  await expect(startRun(world.journal, start)).rejects.toMatchObject({
    code: 'run.open',
    hints: [
      `resume it: lifeboat resume ${world.runId}`,
      `or abandon it: lifeboat resume ${world.runId} --abandon REASON`,
    ],
  });
  await abandonRun(world.journal, await findRun(world.journal), 'superseded');
  const second = await startRun(world.journal, start);
  expect((await listRuns(world.journal)).map(({ runId, status }) => [runId, status])).toEqual([
    [world.runId, 'abandoned'],
    [second, 'open'],
  ]);
});

test('the hint does not suggest abandoning a run with follow-ups for another one', async () => {
  const world = await makeWorld(obedient());
  const runbook = runbooks['rotate-key'];
  if (runbook === undefined) throw new Error('the runbook is gone');
  const followUp = { id: 'a', kind: 'rebind' as const, subject: 'api', what: 'bind api', commands: [] };
  const start = {
    runbook,
    instance: 'orders',
    input: { instance: 'orders' },
    mode: 'LIVE' as const,
    operator: 'tester',
    tool: { name: 'lifeboat', version: '0', node: 'v24' },
    followUpsOf: async () => [followUp],
  };
  await expect(startRun(world.journal, start)).rejects.toMatchObject({
    code: 'run.open',
    hints: [
      `resume it: lifeboat resume ${world.runId}`,
      'or do what it leaves to be done (1 open follow-up): lifeboat followups',
    ],
  });
});

test('a plan step that sends nothing to its instance begins beside an open run on the same address', async () => {
  const world = await makeWorld(obedient());
  await abandonRun(world.journal, await findRun(world.journal), 'superseded');
  const start = {
    instance: 'orders',
    input: { instance: 'orders' },
    mode: 'LIVE' as const,
    operator: 'tester',
    tool: { name: 'lifeboat', version: '0', node: 'v24' },
    services: [{ instance: 'orders', url: 'https://127.0.0.1/service-instances/orders', revision: 'v1' }],
  };
  const runbook = runbooks['rotate-key'];
  if (runbook === undefined) throw new Error('the runbook is gone');
  await startRun(world.journal, { ...start, runbook });
  const beside = await startRun(world.journal, { ...start, runbook: planStep });
  expect((await findRun(world.journal, beside)).status).toBe('open');
});

test('the follow-ups of an abandoned run go to the ledger, without the way to do them that only the run had', async () => {
  const world = await makeWorld(obedient());
  const followUp = {
    id: 'fresh-backup',
    kind: 'fresh-backup',
    subject: 'orders',
    what: 'back up orders',
  } as const;
  const run = await findRun(world.journal);
  await abandonRun(world.journal, run, 'superseded', [{ ...followUp, commands: ['a'], doable: 'run' }]);
  const entries = await world.journal.read('instance/orders');
  expect(entries.at(-1)).toMatchObject({
    type: 'follow-up.opened',
    body: {
      run: run.runId,
      followUp: {
        ...followUp,
        id: `fresh-backup-${run.runId.slice(-6).toLowerCase()}`,
        commands: ['a'],
      },
    },
  });
  expect(JSON.stringify(entries.at(-1)?.body)).not.toContain('doable');
});

test('if two runs of an instance begin at the same moment, one is refused, and leaves nothing open', async () => {
  const world = await makeWorld(obedient());
  await abandonRun(world.journal, await findRun(world.journal), 'superseded');
  const runbook = runbooks['disaster-recovery'];
  if (runbook === undefined) throw new Error('the runbook is gone');
  const start = {
    runbook,
    instance: 'orders',
    target: 'orders-dr',
    input: { instance: 'orders', target: 'orders-dr', mode: 'perform' },
    mode: 'LIVE' as const,
    operator: 'tester',
    tool: { name: 'lifeboat', version: '0', node: 'v24' },
  };
  const began = await Promise.allSettled([
    startRun(world.journal, start),
    startRun(world.journal, { ...start, instance: 'shop' }),
  ]);
  expect(began.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect((await listRuns(world.journal)).filter(({ status }) => status === 'open')).toHaveLength(1);
});

test('a run is found by a prefix of its id, and an unknown one is a usage error', async () => {
  const world = await makeWorld(obedient());
  expect((await findRun(world.journal, world.runId.slice(0, 12).toLowerCase())).runId).toBe(world.runId);
  await expect(findRun(world.journal, 'ZZZ')).rejects.toMatchObject({ code: 'run.unknown', exitCode: 2 });
});

test('every prefix of a journal folds to a state that the run really was in', async () => {
  const world = await rotated();
  const runbook = runbooks['rotate-key'];
  if (runbook === undefined) throw new Error('the runbook is gone');
  const entries = await world.journal.read(`run/${world.runId}`);
  for (let length = 0; length <= entries.length; length += 1) {
    const beginning = entries.slice(0, length);
    const last = beginning.findLast(({ type }) => type === 'event')?.body as { to?: string } | undefined;
    expect(statePath(fold(runbook, { instance: 'orders' }, beginning).snapshot)).toBe(
      last?.to ?? 'preflight.looking',
    );
  }
});

test('entries that arrive one by one fold to the same state as all of them at once', async () => {
  const world = await rotated();
  const runbook = runbooks['rotate-key'];
  if (runbook === undefined) throw new Error('the runbook is gone');
  const growing: Entry[] = [];
  for (const entry of await world.journal.read(`run/${world.runId}`)) {
    growing.push(entry);
    const whole = fold(runbook, { instance: 'orders' }, growing).snapshot;
    const { snapshot } = foldGrowing(runbook, growing);
    expect([snapshot.value, snapshot.context]).toEqual([whole.value, whole.context]);
  }
});

test('a journal whose events lead to another state than recorded is refused', async () => {
  const world = await makeWorld(obedient());
  const run = await world.takeUp();
  await reaches(run, 'oldBackup.asking');
  await run.detach();
  const runbook = runbooks['rotate-key'];
  if (runbook === undefined) throw new Error('the runbook is gone');
  const entries = await world.journal.read(`run/${world.runId}`);
  const forged = entries.map((entry) =>
    entry.type === 'event' ? { ...entry, body: { ...(entry.body as object), to: 'done' } } : entry,
  );
  expect(() => fold(runbook, { instance: 'orders' }, forged)).toThrow(
    expect.objectContaining({ code: 'run.diverged' }),
  );
});
