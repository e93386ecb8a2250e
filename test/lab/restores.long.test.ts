import { readFile } from 'node:fs/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import type { Lab } from '../../src/lab/lab.ts';
import { sampleDigest } from '../../src/lab/sample-data.ts';
import { startTestLab } from '../bench-kit/lab.ts';
import { ask, backUp, backupEnded, call, instanceOf, listBackups, restoreEnded, until } from './helpers.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startTestLab({ workers: 8 });
});
afterAll(() => lab.close());

const Prepared = z.object({ backup_guid: z.string() });
const Performed = z.object({ restore_id: z.int() });
const Binding = z.object({
  id: z.string(),
  app: z.string(),
  credentials: z.object({
    uri: z.string(),
    username: z.string(),
    password: z.string(),
    host: z.string(),
    database: z.string(),
  }),
});

const order = () => instanceOf(lab, 'orders').query('select place_order()');

async function backupGuid(): Promise<string> {
  const { json } = await ask(lab, 'POST', `${instanceOf(lab, 'orders').v1}/disaster-recovery/prepare`, {
    body: {},
  });
  return Prepared.parse(json).backup_guid;
}

/** Recovers into `orders-dr`, and waits for the end. */
async function perform(backup_guid: string, encryption_key: string) {
  const path = `${instanceOf(lab, 'orders-dr').v1}/disaster-recovery/perform`;
  const { json, status } = await ask(lab, 'POST', path, { body: { backup_guid, encryption_key } });
  expect(status).toBe(200);
  return await restoreEnded(lab, Performed.parse(json).restore_id, 'orders-dr');
}

test('a restore of an own backup brings back its data, and its record names the backup', async () => {
  const orders = instanceOf(lab, 'orders');
  await order();
  const before = await sampleDigest(orders.query);
  const backup = await backUp(lab);
  await orders.query('delete from order_lines');
  const { json } = await ask(lab, 'POST', `${orders.v1}/backups/${backup.id}/restore`);
  const { id } = z.object({ id: z.int() }).parse(json);
  const restore = await restoreEnded(lab, id);
  expect(restore).toMatchObject({
    status: 'done',
    backup_id: backup.id,
    metadata: { restored_from: backup.triggered_at },
  });
  expect(await sampleDigest(orders.query)).toEqual(before);
  expect((await ask(lab, 'GET', `${orders.v1}/restores`)).json).toEqual([
    (await ask(lab, 'GET', `${orders.v1}/restores/${id}`)).json,
  ]);
  expect((await ask(lab, 'POST', `${orders.v1}/backups/999/restore`)).status).toBe(404);
  expect((await ask(lab, 'POST', `${orders.v1}/backups/x/restore`)).status).toBe(404);
  expect((await ask(lab, 'GET', `${orders.v1}/restores/999`)).status).toBe(404);
});

test('a restore locks an application out, and a new binding lets it in', async () => {
  const orders = instanceOf(lab, 'orders');
  const bindings = '/lab/instances/orders/bindings';
  const bind = async () =>
    Binding.parse((await call(lab, 'POST', bindings, { body: { app: 'orders-api' } })).json);
  const count = async ({ credentials }: z.infer<typeof Binding>) => {
    const client = new Client({
      host: credentials.host,
      user: credentials.username,
      password: credentials.password,
      database: credentials.database,
    });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query('select count(*)::int as n from orders')).rows[0];
    } finally {
      await client.end();
    }
  };
  const old = await bind();
  expect(await count(old)).toEqual({ n: expect.any(Number) });
  const byUri = new Client({ connectionString: old.credentials.uri });
  await byUri.connect();
  await byUri.end();
  const { json } = await call(lab, 'POST', `${orders.v1}/backups/1/restore`);
  await restoreEnded(lab, z.object({ id: z.int() }).parse(json).id);
  await expect(count(old)).rejects.toThrow('password authentication failed');
  const listed = (await call(lab, 'GET', bindings)).json;
  expect(listed).toEqual([
    { id: old.id, app: 'orders-api', username: old.credentials.username, created_at: expect.any(String) },
  ]);
  expect((await call(lab, 'DELETE', `${bindings}/${old.id}`)).status).toBe(200);
  const fresh = await bind();
  expect(await count(fresh)).toEqual({ n: expect.any(Number) });
  expect((await call(lab, 'DELETE', `${bindings}/${fresh.id}`)).status).toBe(200);
  await expect(count(fresh)).rejects.toThrow();
  expect((await call(lab, 'DELETE', `${bindings}/${fresh.id}`)).status).toBe(404);
  expect((await call(lab, 'POST', bindings, { body: {} })).status).toBe(422);
});

test('with a wrong key the task fails, and the target is unchanged', async () => {
  const target = instanceOf(lab, 'orders-dr');
  await target.query('create table mine (n int)');
  await target.query('insert into mine select generate_series(1, 100)');
  const [{ pid } = { pid: 0 }] = await target.query<{ pid: number }>('select pg_backend_pid() as pid');
  const failed = await perform(await backupGuid(), 'not the key of these backups');
  expect(failed).toMatchObject({ status: 'failed', backup_id: expect.any(Number) });
  expect(await target.query('select sum(n)::int as sum from mine')).toEqual([{ sum: 5050 }]);
  // Not even its connections were cut.
  expect(pid).toBeGreaterThan(0);
  expect(await target.query('select 1 as n from pg_stat_activity where pid = $1', [pid])).toHaveLength(1);
  expect((await ask(lab, 'GET', target.v1)).json).toMatchObject({ state: 'available' });
});

test('an unknown guid is not found, and a body without a guid or key is 422', async () => {
  const path = `${instanceOf(lab, 'orders-dr').v1}/disaster-recovery/perform`;
  const encryption_key = await readFile(lab.keyFile, 'utf8');
  const unknown = { backup_guid: '00000000-0000-4000-8000-000000000000', encryption_key };
  expect((await ask(lab, 'POST', path, { body: unknown })).status).toBe(404);
  for (const body of [{}, { encryption_key }, { backup_guid: await backupGuid() }, [], 'x', undefined]) {
    expect((await ask(lab, 'POST', path, { body })).status).toBe(422);
  }
  const prepare = `${instanceOf(lab, 'orders-dr').v1}/disaster-recovery/prepare`;
  expect((await ask(lab, 'POST', prepare, { body: { encryption_key: 'short' } })).status).toBe(422);
  expect((await ask(lab, 'POST', prepare, { raw: '{"encryption_key"' })).status).toBe(422);
  expect((await ask(lab, 'POST', prepare)).status).toBe(200);
});

test('a fork restores exactly the named backup, not the newest', async () => {
  const orders = instanceOf(lab, 'orders');
  const chosen = await backUp(lab);
  const then = await sampleDigest(orders.query);
  await order();
  await backUp(lab);
  const key = await readFile(lab.keyFile, 'utf8');
  const restore = await perform(String(chosen.backup_id), key);
  expect(restore).toMatchObject({
    status: 'done',
    backup_id: chosen.id,
    metadata: { restored_from: chosen.triggered_at },
  });
  expect(await sampleDigest(instanceOf(lab, 'orders-dr').query)).toEqual(then);
});

test('the newest backup of a lost instance can be restored into another one', async () => {
  const orders = instanceOf(lab, 'orders');
  const guid = await backupGuid();
  const newest = await backUp(lab);
  const then = await sampleDigest(orders.query);
  await lab.disaster('orders', true);
  try {
    expect((await call(lab, 'GET', orders.v1)).status).toBe(502);
    await expect(orders.query('select 1')).rejects.toMatchObject({ code: 'lab.down' });
    const restore = await perform(guid, await readFile(lab.keyFile, 'utf8'));
    expect(restore).toMatchObject({ status: 'done', backup_id: newest.id });
    expect(await sampleDigest(instanceOf(lab, 'orders-dr').query)).toEqual(then);
  } finally {
    await lab.disaster('orders', false);
  }
  expect(await sampleDigest(orders.query)).toEqual(then);
  await expect(lab.disaster('nobody', true)).rejects.toMatchObject({ code: 'lab.instance' });
});

test('a backup in progress when its instance is lost fails, and later ones do not', async () => {
  const orders = instanceOf(lab, 'orders');
  // The two are held, so that the loss finds them before their work.
  lab.fault({ method: 'POST', path: '/backups', times: 2, effect: { kind: 'task', outcome: 'queued' } });
  await call(lab, 'POST', `${orders.v1}/backups`);
  await call(lab, 'POST', `${orders.v1}/backups`);
  await lab.disaster('orders', true);
  lab.clearFaults();
  await lab.disaster('orders', false);
  await backUp(lab);
  const ended = (await listBackups(lab)).slice(1, 3);
  expect(ended.map(({ status }) => status)).toEqual(['failed', 'failed']);
});

test('backups requested while the instance restarts wait until it is up again', async () => {
  const { v1 } = instanceOf(lab, 'orders');
  await ask(lab, 'PATCH', `${v1}/restart`);
  const asked = await Promise.all([1, 2, 3].map(() => ask(lab, 'POST', `${v1}/backups`)));
  const ids = asked.map(({ json }) => z.object({ id: z.int() }).parse(json).id);
  const ended = await Promise.all(ids.map((id) => backupEnded(lab, id)));
  expect(ended.map(({ status }) => status)).toEqual(['done', 'done', 'done']);
});

test('a restore waits until a restart has ended, and restores run one after the other', async () => {
  const orders = instanceOf(lab, 'orders');
  const Id = z.object({ id: z.int() });
  await call(lab, 'PATCH', `${orders.v1}/restart`);
  const ids: number[] = [];
  for (let at = 0; at < 2; at += 1) {
    const { json } = await call(lab, 'POST', `${orders.v1}/backups/1/restore`);
    ids.push(Id.parse(json).id);
  }
  const ended = await Promise.all(ids.map((id) => restoreEnded(lab, id)));
  expect(ended.map(({ status }) => status)).toEqual(['done', 'done']);
  const ends = ended.map(({ finished_at }) => Date.parse(finished_at ?? ''));
  expect(ends).toEqual(ends.toSorted((a, b) => a - b));
  await until('the instance is back', async () =>
    z.object({ state: z.string() }).parse((await call(lab, 'GET', orders.v1)).json).state === 'available'
      ? true
      : undefined,
  );
});

test('prepare with a key is a silent rotation: older backups are no longer downloadable', async () => {
  const orders = instanceOf(lab, 'orders');
  const key = await readFile(lab.keyFile, 'utf8');
  const prepare = (encryption_key: string) =>
    ask(lab, 'POST', `${orders.v1}/disaster-recovery/prepare`, { body: { encryption_key } });
  await prepare('another key of sixteen letters');
  expect((await listBackups(lab)).some(({ downloadable }) => downloadable)).toBe(false);
  await prepare(key);
  expect((await listBackups(lab)).some(({ downloadable }) => downloadable)).toBe(true);
  const marks = lab
    .calls()
    .filter(({ endpoint, detail }) => endpoint.endsWith('/prepare') && 'encryption_key' in detail);
  expect(marks).toHaveLength(2);
  expect(JSON.stringify(lab.calls())).not.toContain(key);
});
