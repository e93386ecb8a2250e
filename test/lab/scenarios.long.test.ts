import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Lab } from '../../src/lab/lab.ts';
import { SCENARIOS } from '../../src/lab/scenarios/scenario.ts';
import { startTestLab } from '../bench-kit/lab.ts';
import { backupEnded, curl, instanceOf, listBackups, until } from './helpers.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startTestLab({ sso: false });
});
afterAll(() => lab.close());
beforeEach(async () => {
  await play('calm');
  await until('no backup is under way', async () => {
    const all = (await Promise.all([listBackups(lab, 'orders'), listBackups(lab, 'orders-dr')])).flat();
    return all.every(({ status }) => status === 'done' || status === 'failed') ? true : undefined;
  });
});

const play = async (name: string) => {
  expect(await curl(lab, 'POST', '/lab/scenario', { body: { name } })).toMatchObject({ status: 200 });
};
const overview = (name: 'orders' | 'orders-dr') => curl(lab, 'GET', instanceOf(lab, name).v1);
const createBackup = (name: 'orders' | 'orders-dr' = 'orders') =>
  curl(lab, 'POST', `${instanceOf(lab, name).v1}/backups`);
const newest = async () => (await listBackups(lab))[0];
/** The highest id so far: a new backup of orders gets the next one. */
const last = async () => (await newest())?.id ?? 0;

test('flaky-router, half-answers and storm: some calls fail in their ways, and others do not', async () => {
  const seen = async (calls: number) => {
    const answers = [];
    for (let call = 0; call < calls; call += 1) {
      answers.push(await curl(lab, 'GET', `${instanceOf(lab, 'orders').v1}/backups`));
    }
    return answers;
  };
  await play('flaky-router');
  const flaky = await seen(40);
  expect(new Set(flaky.map(({ status }) => status))).toEqual(new Set([0, 200, 502, 504]));
  await play('half-answers');
  const halves = await seen(40);
  expect(new Set(halves.map(({ exit }) => exit))).toEqual(new Set([0, 18]));
  expect(halves.some(({ text }) => text.includes('hibernating'))).toBe(true);
  expect(halves.some(({ exit, text }) => exit === 0 && !text.includes('hibernating'))).toBe(true);
  await play('storm');
  expect(new Set((await seen(30)).map(({ status }) => status))).toEqual(new Set([200, 502]));
});

test('lost-answers and colleague: the backup exists without an answer; or there are two', async () => {
  const ids = async () => (await listBackups(lab)).map(({ id }) => id);
  const before = await ids();
  const first = (before[0] ?? 0) + 1;
  // What becomes of them is no matter here.
  const inVain = { times: 'always', effect: { kind: 'task', outcome: 'failed' } } as const;
  await play('lost-answers');
  lab.fault(inVain);
  expect(await createBackup()).toMatchObject({ exit: 52, status: 0 });
  expect(await createBackup()).toMatchObject({ exit: 52, status: 0 });
  expect(await ids()).toEqual([first + 1, first, ...before]);
  // The routes of the lab itself are not of the service: the lab still answers them.
  await play('colleague');
  lab.fault(inVain);
  expect(await createBackup()).toMatchObject({ exit: 52, status: 0 });
  expect(await ids()).toEqual([first + 3, first + 2, first + 1, first, ...before]);
  expect(await createBackup()).toMatchObject({ status: 200, json: { id: first + 4 } });
});

test('stuck-task and failing-task: the first task waits or fails; the next one is done', async () => {
  const before = await last();
  await play('stuck-task');
  await createBackup();
  await createBackup();
  expect(await backupEnded(lab, before + 2)).toMatchObject({ status: 'done' });
  expect((await listBackups(lab)).find(({ id }) => id === before + 1)).toMatchObject({ status: 'queued' });
  await curl(lab, 'DELETE', '/lab/faults');
  expect(await backupEnded(lab, before + 1)).toMatchObject({ status: 'done' });
  await play('failing-task');
  await createBackup();
  expect(await backupEnded(lab, before + 3)).toMatchObject({ status: 'failed' });
  await createBackup();
  expect(await backupEnded(lab, before + 4)).toMatchObject({ status: 'done' });
});

test('skewed-clock: bodies and headers have a time that is seven minutes behind', async () => {
  await play('skewed-clock');
  await createBackup();
  const triggered = Date.parse((await newest())?.triggered_at ?? '');
  expect(Math.round((Date.now() - triggered) / 60_000)).toBe(7);
  const date = Date.parse((await fetch(lab.url)).headers.get('date') ?? '');
  expect(Math.round((Date.now() - date) / 60_000)).toBe(7);
});

test('wrong-key: the newest backup of orders cannot be restored with our key', async () => {
  const encryption_key = await readFile(lab.keyFile, 'utf8');
  const source = instanceOf(lab, 'orders');
  const target = instanceOf(lab, 'orders-dr');
  const prepared = await curl(lab, 'POST', `${source.v1}/disaster-recovery/prepare`, { body: {} });
  const { backup_guid } = prepared.json as { backup_guid: string };
  await target.query('create table mine as select 1 as one');
  const perform = async () => {
    const body = { backup_guid, encryption_key };
    const begun = await curl(lab, 'POST', `${target.v1}/disaster-recovery/perform`, { body });
    const { restore_id } = begun.json as { restore_id: number };
    return await until('the restore has ended', async () => {
      const { json } = await curl(lab, 'GET', `${target.v1}/restores/${restore_id}`);
      const { status } = json as { status: string };
      return ['done', 'failed'].includes(status) ? status : undefined;
    });
  };
  const before = await last();
  await play('wrong-key');
  await until('another backup is there', async () => ((await last()) === before + 1 ? true : undefined));
  expect(await backupEnded(lab, before + 1)).toMatchObject({ status: 'done', downloadable: true });
  expect(await perform()).toBe('failed');
  expect(await target.query('select one from mine')).toEqual([{ one: 1 }]);
});

test('every named scenario can be played after another, and calm ends each', async () => {
  for (const { name } of SCENARIOS) {
    await play(name);
    expect((await curl(lab, 'GET', '/lab')).json).toMatchObject({ scenario: name });
    await play('calm');
    expect((await curl(lab, 'GET', '/lab')).json).toMatchObject({ scenario: 'calm', faults: [] });
    const statuses = [(await overview('orders')).status, (await overview('orders-dr')).status];
    expect([name, ...statuses]).toEqual([name, 200, 200]);
  }
});

// The last one: its first backup waits on for twenty seconds.
test('slow-queue: a second backup waits in the queue behind the first, and both are done', async () => {
  await play('slow-queue');
  await createBackup('orders');
  await createBackup('orders-dr');
  const [first] = await listBackups(lab, 'orders');
  const [second] = await listBackups(lab, 'orders-dr');
  expect([first?.status, second?.status]).toEqual(['running', 'queued']);
  // The lab's own pace again: the one that works has its delay before it, the other one goes now.
  await play('calm');
  expect(await backupEnded(lab, second?.id ?? 0, 'orders-dr')).toMatchObject({ status: 'done' });
});
