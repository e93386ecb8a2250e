import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { Config } from '../../src/config/schema.ts';
import type { Lab } from '../../src/lab/lab.ts';
import { startTestLab } from '../bench-kit/lab.ts';
import { ask, curl, instanceOf, until } from './helpers.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startTestLab({ revision: 61, sso: false, instances: [{ name: 'orders', key: true }] });
});
afterAll(() => lab.close());
afterEach(() => settings({ router: '15m', updateBlocking: true, downloads: 'present-key' }));

const DEFAULTS = { routerMs: 900_000, updateBlocking: true, downloads: 'present-key' };
const settings = (body: object) => curl(lab, 'POST', '/lab/settings', { body });
const edit = (allowed: boolean) =>
  ask(lab, 'PATCH', `${instanceOf(lab, 'orders').v1}/broker/edit`, {
    body: { allowed_update_time: { type: 'general', allowed } },
  });
const Overview = z.looseObject({ service_id: z.string(), available_updates: z.array(z.unknown()) });
const overview = async () => Overview.parse((await ask(lab, 'GET', instanceOf(lab, 'orders').v1)).json);
const update = async () => {
  const { service_id } = await overview();
  return await ask(lab, 'PATCH', `${instanceOf(lab, 'orders').v1}/updates`, { body: { service_id } });
};

test('an update is refused while updates are forbidden, and done once they are allowed', async () => {
  expect((await edit(false)).status).toBe(200);
  expect(await update()).toMatchObject({ status: 422, json: { error: 'maintenanceUpdatesForbidden' } });
  expect((await overview()).available_updates).not.toEqual([]);
  await edit(true);
  expect((await update()).status).toBe(202);
  await until('it is updated', async () =>
    (await overview()).available_updates.length === 0 ? true : undefined,
  );
});

test('where updates cannot be forbidden there is no endpoint for it, and updates are allowed', async () => {
  await edit(false);
  expect((await settings({ updateBlocking: false })).json).toEqual({ ...DEFAULTS, updateBlocking: false });
  expect(await edit(false)).toMatchObject({ status: 404, json: { error: 'notFound' } });
  expect((await update()).status).toBe(202);
  await settings({ updateBlocking: true });
  expect((await edit(true)).status).toBe(200);
});

test('the router ends a request with 504 before its answer begins, or cuts a download', async () => {
  const { v1, v0 } = instanceOf(lab, 'orders');
  expect((await curl(lab, 'GET', '/lab/settings')).json).toEqual(DEFAULTS);
  expect((await settings({ router: '300ms' })).json).toEqual({ ...DEFAULTS, routerMs: 300 });
  lab.fault({ method: 'POST', path: '/backups', effect: { kind: 'delay', ms: 600_000, when: 'after' } });
  const late = await curl(lab, 'POST', `${v1}/backups`);
  expect(late).toMatchObject({ exit: 0, status: 504, type: 'text/html' });
  expect(lab.calls().at(-1)).toMatchObject({ endpoint: 'POST /backups' });
  lab.fault({ path: '/backups/:id/download', effect: { kind: 'slow', bytesPerSecond: 1_000 } });
  // 18: fewer bytes than announced.
  expect(await curl(lab, 'GET', `${v0}/backups/1/download`)).toMatchObject({ exit: 18, status: 200 });
  // The lab's own routes are not behind the router, and neither is what comes in time.
  expect((await curl(lab, 'GET', '/lab/settings')).status).toBe(200);
  expect((await curl(lab, 'GET', v1)).status).toBe(200);
  lab.clearFaults();
});

test('after a change of the key, the rule of the lab decides whether older backups can be downloaded', async () => {
  const own = await startTestLab({ downloads: 'own-key', instances: [{ name: 'orders', key: true }] });
  try {
    const { v1, v0 } = instanceOf(own, 'orders');
    await ask(own, 'PATCH', `${v1}/backups-config`, { body: { encryption_key: 'another key of the test' } });
    const authorization = `Bearer ${await readFile(own.tokenFile, 'utf8')}`;
    const offered = async () => {
      const { json } = await ask(own, 'GET', `${v1}/backups/1`);
      const answer = await fetch(`${own.url}${v0}/backups/1/download`, { headers: { authorization } });
      await answer.body?.cancel();
      return [z.looseObject({ downloadable: z.boolean() }).parse(json).downloadable, answer.status];
    };
    expect(await offered()).toEqual([true, 200]);
    const body = { downloads: 'present-key' };
    expect((await curl(own, 'POST', '/lab/settings', { body })).json).toMatchObject(body);
    expect(await offered()).toEqual([false, 412]);
  } finally {
    await own.close();
  }
});

test('invalid settings are refused, and so is a setting without the full token', async () => {
  for (const body of [
    {},
    { router: '0s' },
    { router: 15 },
    { router: 'soon' },
    { updateBlocking: 'no' },
    { downloads: 'all' },
    { x: 1 },
  ]) {
    expect((await settings(body)).status, JSON.stringify(body)).toBe(422);
  }
  expect((await curl(lab, 'POST', '/lab/settings', { body: {}, authorization: '' })).status).toBe(401);
});

test('the config of a lab states an unusual router timeout', async () => {
  const own = await startTestLab({ routerMs: 90_000, updateBlocking: false, instances: [{ name: 'one' }] });
  try {
    expect(Config.parse(parse(own.configYaml)).instances['one']?.router).toBe(90_000);
    expect((await curl(own, 'GET', '/lab/settings')).json).toEqual({
      routerMs: 90_000,
      updateBlocking: false,
      downloads: 'present-key',
    });
    expect(lab.configYaml).not.toContain('router');
  } finally {
    await own.close();
  }
});

test('a documented body must be sent as JSON; an undocumented one is not read', async () => {
  const { v1, v0, name } = instanceOf(lab, 'orders');
  const send = async (method: string, path: string, type: string | undefined, body: string) => {
    const token = await readFile(lab.tokenFile, 'utf8');
    const headers = new Headers({
      authorization: token,
      ...(type === undefined ? {} : { 'content-type': type }),
    });
    // Bytes: a text would be given a type.
    const answer = await fetch(`${lab.url}${path}`, { method, headers, body: Buffer.from(body) });
    return { status: answer.status, json: await answer.json() };
  };
  const change = '{"retention_time":9}';
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', undefined]) {
    const refused = await send('PATCH', `${v1}/backups-config`, type, change);
    expect(refused, type).toMatchObject({ status: 415, json: { error: 'unsupportedMediaType' } });
    const old = await send('POST', `${v0}/backups/restore`, type, '{"instance_id":1,"backup_id":1}');
    expect(old, type).toMatchObject({ status: 415, json: { msg: expect.any(String) } });
    expect((await send('POST', `${v1}/disaster-recovery/prepare`, type, '{}')).status).toBe(415);
  }
  expect(
    lab
      .calls()
      .filter(({ instance }) => instance === name)
      .map(({ endpoint }) => endpoint),
  ).not.toContain('PATCH /backups-config');
  for (const type of ['application/json', 'Application/JSON; charset=utf-8']) {
    expect((await send('PATCH', `${v1}/backups-config`, type, change)).status).toBe(200);
  }
  expect((await send('PATCH', `${v1}/restart`, 'text/plain', 'now')).status).toBe(202);
});
