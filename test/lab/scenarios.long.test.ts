import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Lab } from '../../src/lab/lab.ts';
import { SCENARIOS } from '../../src/lab/scenarios/scenarios.ts';
import { backupEnded, curl, instanceOf, listBackups, run, startTestLab, until } from './helpers.ts';

let lab: Lab;
beforeEach(async () => {
  lab = await startTestLab({ sso: false });
});
afterEach(() => lab.close());

const play = async (name: string) => {
  expect(await curl(lab, 'POST', '/lab/scenario', { body: { name } })).toMatchObject({ status: 200 });
};
const overview = (name: 'orders' | 'orders-dr') => curl(lab, 'GET', instanceOf(lab, name).v1);
const createBackup = (name: 'orders' | 'orders-dr' = 'orders') =>
  curl(lab, 'POST', `${instanceOf(lab, name).v1}/backups`);
const newest = async () => (await listBackups(lab))[0];

test('every named scenario can be played, one after the other, and calm ends the trouble of each', async () => {
  for (const { name } of SCENARIOS) {
    await play(name);
    expect((await curl(lab, 'GET', '/lab')).json).toMatchObject({ scenario: name });
    await play('calm');
    expect((await curl(lab, 'GET', '/lab')).json).toMatchObject({ scenario: 'calm', faults: [] });
    const statuses = [(await overview('orders')).status, (await overview('orders-dr')).status];
    expect([name, ...statuses]).toEqual([name, 200, 200]);
  }
});

test('wrong-key: the newest backup of orders cannot be brought back with the key that we hold', async () => {
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
  await play('wrong-key');
  await until('the second backup is there', async () => ((await newest())?.id === 2 ? true : undefined));
  expect(await backupEnded(lab, 2)).toMatchObject({ status: 'done', downloadable: true });
  expect(await perform()).toBe('failed');
  expect(await target.query('select one from mine')).toEqual([{ one: 1 }]);
});

test('slow-queue: a second backup waits in the queue while the first one works, and nothing is lost', async () => {
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

test('stuck-task and failing-task: the first task waits for help, or fails; the next one is well', async () => {
  await play('stuck-task');
  await createBackup();
  await createBackup();
  expect(await backupEnded(lab, 3)).toMatchObject({ status: 'done' });
  expect((await listBackups(lab)).find(({ id }) => id === 2)).toMatchObject({ status: 'queued' });
  await curl(lab, 'DELETE', '/lab/faults');
  expect(await backupEnded(lab, 2)).toMatchObject({ status: 'done' });
  await play('failing-task');
  await createBackup();
  expect(await backupEnded(lab, 4)).toMatchObject({ status: 'failed' });
  await createBackup();
  expect(await backupEnded(lab, 5)).toMatchObject({ status: 'done' });
});

test('lost-answers and colleague: the backup is there and nobody said so; or there are two', async () => {
  await play('lost-answers');
  expect(await createBackup()).toMatchObject({ exit: 52, status: 0 });
  expect(await createBackup()).toMatchObject({ exit: 52, status: 0 });
  expect((await listBackups(lab)).map(({ id }) => id)).toEqual([3, 2, 1]);
  // The routes of the lab itself are not of the service: what it is told is still answered.
  await play('colleague');
  expect(await createBackup()).toMatchObject({ exit: 52, status: 0 });
  expect((await listBackups(lab)).map(({ id }) => id)).toEqual([5, 4, 3, 2, 1]);
  expect(await createBackup()).toMatchObject({ status: 200, json: { id: 6 } });
});

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

test('cut-download: the first two downloads end before their last byte, the third is whole', async () => {
  await play('cut-download');
  const size = (await listBackups(lab)).at(-1)?.size ?? 0;
  const token = await readFile(lab.tokenFile, 'utf8');
  const url = `${lab.url}${instanceOf(lab, 'orders').v0}/backups/1/download`;
  const download = async () => {
    const args = ['-sS', '-o', '/dev/null', '-w', '%{size_download}', '-H', `Authorization: ${token}`, url];
    return await run('curl', args).then(
      ({ stdout }) => [0, Number(stdout)],
      (error: { code: number; stdout: string }) => [error.code, Number(error.stdout)],
    );
  };
  for (let cut = 0; cut < 2; cut += 1) {
    const [exit, bytes = 0] = await download();
    expect(exit).toBe(18);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(size);
  }
  expect(await download()).toEqual([0, size]);
});

test('skewed-clock: the service says a time that is seven minutes behind, in its answers and in their heads', async () => {
  await play('skewed-clock');
  await createBackup();
  const triggered = Date.parse((await newest())?.triggered_at ?? '');
  expect(Math.round((Date.now() - triggered) / 60_000)).toBe(7);
  const date = Date.parse((await fetch(lab.url)).headers.get('date') ?? '');
  expect(Math.round((Date.now() - date) / 60_000)).toBe(7);
});

test('disk-pressure: the metrics of orders show a disk one percent below the threshold, those of others do not', async () => {
  await play('disk-pressure');
  const used = async (name: 'orders' | 'orders-dr') => {
    const { json } = await curl(lab, 'GET', `${instanceOf(lab, name).v1}/metrics`);
    const figure = (of: string) =>
      (json as string[]).findLast((line) => line.includes(`parachute.disk.persistent.${of} `))?.split(' ')[1];
    return Object.fromEntries(
      ['used_percent', 'used_threshold', 'activated'].map((of) => [of, Math.round(Number(figure(of)))]),
    );
  };
  const pressed = { used_percent: 79, used_threshold: 80, activated: 0 };
  const shown = async (wanted: boolean) =>
    await until(`a sample shows it: ${wanted}`, async () =>
      ((await used('orders'))['used_percent'] === 79) === wanted ? true : undefined,
    );
  await shown(true);
  expect(await used('orders')).toEqual(pressed);
  expect(await used('orders-dr')).not.toEqual(pressed);
  await play('calm');
  await shown(false);
});
