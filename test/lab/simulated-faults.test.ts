import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import type { Fault } from '../../src/lab/faults.ts';
import type { Lab, LabOptions } from '../../src/lab/lab.ts';
import { shuffledPlace } from '../../src/lab/random.ts';
import { startTestLab } from '../bench-kit/lab.ts';
import { ask, call, instanceOf, listBackups } from './helpers.ts';

const SOURCES = 200;

async function startSimulated(faults: readonly Fault[], options: LabOptions = {}): Promise<Lab> {
  const lab = await startTestLab({ simulated: { sources: SOURCES }, faults, ...options });
  onTestFinished(() => lab.close());
  return lab;
}

const lost = (seed: number, share: [number, number] = [0, 0.05]): Fault => ({
  method: 'POST',
  path: '/backups',
  share,
  seed,
  times: 'always',
  effect: { kind: 'drop', when: 'after' },
});

const sources = (lab: Lab) => lab.instances.map(({ name }) => name).filter((name) => !name.endsWith('-dr'));

/** Has a backup made of each of these, and gives the names of those whose answer was lost. */
async function backUpEach(lab: Lab, names: readonly string[]): Promise<readonly string[]> {
  const ends = await Promise.all(
    names.map((name) =>
      call(lab, 'POST', `${instanceOf(lab, name).v1}/backups`).then(
        () => [],
        () => [name],
      ),
    ),
  );
  return ends.flat();
}

test('a share hits exactly its number of instances, whatever the order in which they are called', async () => {
  const [one, other] = [await startSimulated([lost(7)]), await startSimulated([lost(7)])];
  const hit = await backUpEach(one, sources(one));
  expect(hit).toHaveLength(10);
  expect((await backUpEach(other, sources(other).toReversed())).toSorted()).toEqual(hit);
});

test('another seed and another time hit other instances, but the same number', async () => {
  const [one, other] = [await startSimulated([lost(7)]), await startSimulated([lost(8)])];
  const first = await backUpEach(one, sources(one));
  const again = await backUpEach(one, sources(one));
  const bySeed = await backUpEach(other, sources(other));
  expect([again, bySeed].map(({ length }) => length)).toEqual([10, 10]);
  expect(again).not.toEqual(first);
  expect(bySeed).not.toEqual(first);
});

test('neighbouring shares never overlap, and the lab counts what they hit', async () => {
  const failed: Fault = {
    share: [0, 0.02],
    seed: 3,
    times: 'always',
    effect: { kind: 'task', outcome: 'failed' },
  };
  const late: Fault = { ...lost(3, [0.04, 0.05]), effect: { kind: 'delay', ms: 1, when: 'after' } };
  const lab = await startSimulated([failed, lost(3, [0.02, 0.04]), late]);
  const hit = await backUpEach(lab, sources(lab));
  await lab.atRest();
  const newest = await Promise.all(
    sources(lab).map(async (name) => [name, (await listBackups(lab, name))[0]] as const),
  );
  const failures = newest.filter(([, backup]) => backup?.status === 'failed').map(([name]) => name);
  expect(hit).toHaveLength(4);
  expect(failures).toHaveLength(4);
  expect(failures.filter((name) => hit.includes(name))).toEqual([]);
  expect((await call(lab, 'GET', '/lab/counts')).json).toMatchObject({
    faults: { task: 4, drop: 4, delay: 2 },
  });
});

test('a call whose answer is lost is carried out and counted once', async () => {
  const lab = await startSimulated([lost(1)]);
  const [name = ''] = await backUpEach(lab, sources(lab));
  expect(await listBackups(lab, name)).toHaveLength(2);
  expect(lab.counts()[name]).toEqual({ 'POST /backups': 1 });
  expect((await call(lab, 'GET', `/lab/counts?instance=${name}`)).json).toEqual({
    instances: { [name]: { 'POST /backups': 1 } },
  });
  expect((await call(lab, 'GET', '/lab/counts')).json).toMatchObject({ total: { 'POST /backups': SOURCES } });
});

test('faults by share are listed, and end together with the others', async () => {
  const lab = await startSimulated([lost(1, [0, 1])]);
  expect((await call(lab, 'GET', '/lab/faults')).json).toMatchObject({ faults: [{ share: [0, 1] }] });
  await call(lab, 'DELETE', '/lab/faults');
  expect(await backUpEach(lab, sources(lab))).toEqual([]);
});

test('a task takes the configured time, and is shown as running until then', async () => {
  const lab = await startSimulated([], { simulated: { sources: 1, taskMs: [86_400_000, 86_400_000] } });
  const { v1 } = instanceOf(lab, 'sim-00001');
  expect((await listBackups(lab, 'sim-00001')).map(({ status }) => status)).toEqual(['done']);
  await ask(lab, 'POST', `${v1}/backups`);
  expect((await listBackups(lab, 'sim-00001'))[0]).toMatchObject({ status: 'running', size: 0 });
  await ask(lab, 'PATCH', `${v1}/restart`);
  const { state } = z.object({ state: z.string() }).parse((await ask(lab, 'GET', v1)).json);
  expect(state).toBe('deploying');
});

test.each([1, 2, 3, 7, 64, 200, 1_000])('a shuffle of %i gives each item a different place', (count) => {
  const places = Array.from({ length: count }, (_, at) => shuffledPlace(at, count, 12_345));
  expect(places.toSorted((one, other) => one - other)).toEqual(Array.from({ length: count }, (_, at) => at));
});
