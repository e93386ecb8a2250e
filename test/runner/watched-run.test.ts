import { expect, test } from 'vitest';
import { runbooks } from '../../machines/index.ts';
import { statePath } from '../../machines/parts/states.ts';
import { watchRun } from '../../src/runner/watched-run.ts';
import { soon } from '../bench-kit/soon.ts';
import { makeWorld, obedient, reaches, rotated } from './world.ts';

const RUNBOOK = runbooks['rotate-key'] as NonNullable<(typeof runbooks)['rotate-key']>;

test('a watcher of a run sees each state that it reaches, and its end', async () => {
  const world = await makeWorld(obedient());
  const run = await world.takeUp();
  await reaches(run, 'oldBackup.asking');
  const watched = await watchRun(world.journal, RUNBOOK, { runId: world.runId, instance: 'orders' });
  expect(statePath(watched.state().snapshot)).toBe('oldBackup.asking');
  let told = 0;
  watched.subscribe(() => {
    told += 1;
  });
  await run.answer({ event: 'operator.skip', text: 'proven yesterday' });
  await soon(() => expect(statePath(watched.state().snapshot)).toBe(statePath(run.state().snapshot)));
  expect(told).toBeGreaterThan(0);
  await run.detach();
  watched.stop();
  expect(await watched.over).toBe('stopped');
});

test('a run that is over is seen at its end at once, and its actions are not recorded again', async () => {
  const world = await rotated();
  const before = (await world.types()).length;
  const watched = await watchRun(world.journal, RUNBOOK, { runId: world.runId, instance: 'orders' });
  expect(await watched.over).toBe('ended');
  expect(watched.state().snapshot.status).toBe('done');
  expect(watched.state().activity).toBeUndefined();
  expect((await world.types()).length).toBe(before);
});
