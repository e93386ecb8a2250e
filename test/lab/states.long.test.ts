import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import type { Lab } from '../../src/lab/lab.ts';
import { startTestLab } from '../bench-kit/lab.ts';
import { ask, backUp, call, instanceOf, listBackups, restoreEnded, until } from './helpers.ts';
import { CfPage, cf } from './platform-helpers.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startTestLab({
    platform: {},
    instances: ['orders', 'billing', 'mail', 'gone'].map((name) => ({ name, key: name !== 'billing' })),
  });
});
afterAll(() => lab.close());

const Overview = z.looseObject({ state: z.string(), updated_at: z.string() });
const overview = async (name: string) =>
  Overview.parse((await ask(lab, 'GET', instanceOf(lab, name).v1)).json);
const reaches = (name: string, state: string) =>
  until(`${name} is ${state}`, async () => ((await overview(name)).state === state ? true : undefined));

test('an instance is provisioned at first and after a backup, available after an operation', async () => {
  const { v1 } = instanceOf(lab, 'billing');
  expect((await overview('billing')).state).toBe('provisioned');
  await backUp(lab, 'billing');
  expect((await overview('billing')).state).toBe('provisioned');
  await ask(lab, 'PATCH', `${v1}/restart`);
  expect((await overview('billing')).state).toBe('deploying');
  await reaches('billing', 'available');
});

test('a restore leaves it available, whether it succeeded or changed nothing', async () => {
  const restore = (body: object) =>
    ask(lab, 'POST', `${instanceOf(lab, 'orders').v1}/disaster-recovery/perform`, { body });
  const guid = z
    .object({ backup_guid: z.string() })
    .parse((await ask(lab, 'POST', `${instanceOf(lab, 'mail').v1}/disaster-recovery/prepare`)).json);
  await restore({ ...guid, encryption_key: 'a key of somebody' });
  expect((await restoreEnded(lab, 1)).status).toBe('failed');
  expect((await overview('orders')).state).toBe('available');
  await call(lab, 'POST', `${instanceOf(lab, 'orders').v1}/backups/1/restore`);
  expect((await restoreEnded(lab, 2)).status).toBe('done');
  await reaches('orders', 'available');
});

test('it is failed when no server runs, and available when one runs again', async () => {
  const pid = z
    .object({ instances: z.array(z.looseObject({ name: z.string(), pid: z.int().optional() })) })
    .parse((await call(lab, 'GET', '/lab')).json)
    .instances.find(({ name }) => name === 'mail')?.pid;
  process.kill(pid ?? 0, 'SIGKILL');
  await reaches('mail', 'failed');
  await ask(lab, 'PATCH', `${instanceOf(lab, 'mail').v1}/restart`);
  await reaches('mail', 'available');
});

test('a deleted instance says so; it can be read and recovered elsewhere, but not changed', async () => {
  const { v1, v0, guid } = instanceOf(lab, 'gone');
  const before = await overview('gone');
  const listed = async () => CfPage.parse((await cf(lab, 'GET', '/v3/service_instances')).json).resources;
  expect((await listed()).map((one) => one.guid)).toContain(guid);
  const remove = () => call(lab, 'DELETE', '/lab/instances/gone');
  for (const _ of [1, 2]) {
    expect(await remove()).toMatchObject({ status: 200, json: { name: 'gone', state: 'deleted' } });
  }
  expect(await overview('gone')).toMatchObject({
    ...before,
    state: 'deleted',
    updated_at: expect.any(String),
  });
  const [backup] = await listBackups(lab, 'gone');
  expect(backup).toMatchObject({ id: 1, status: 'done' });
  for (const [method, path] of [
    ['POST', '/backups'],
    ['PATCH', '/restart'],
    ['POST', '/backups/1/restore'],
    ['POST', '/disaster-recovery/prepare'],
  ] as const) {
    const refused = await ask(lab, method, `${v1}${path}`);
    expect(refused).toMatchObject({ status: 404, json: { error: 'instanceDeleted' } });
  }
  expect((await call(lab, 'POST', `${v0}/backups/restore`, { body: {} })).status).toBe(412);
  expect((await listed()).map((one) => one.guid)).not.toContain(guid);
  await call(lab, 'POST', '/lab/instances/gone/disaster', { body: { lost: true } });
  await call(lab, 'POST', '/lab/instances/gone/disaster', { body: { lost: false } });
  expect((await overview('gone')).state).toBe('deleted');
  const perform = `${instanceOf(lab, 'billing').v1}/disaster-recovery/perform`;
  const body = { backup_guid: backup?.backup_id, encryption_key: 'not the right key' };
  expect((await ask(lab, 'POST', perform, { body })).status).toBe(200);
  expect((await call(lab, 'DELETE', '/lab/instances/nobody')).status).toBe(404);
});
