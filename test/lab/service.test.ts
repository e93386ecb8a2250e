import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { Config } from '../../src/config/schema.ts';
import type { Lab } from '../../src/lab/lab.ts';
import { InstanceOverview } from '../../src/service/schemas.ts';
import { startTestLab } from '../bench-kit/lab.ts';
import { backupEnded, call, instanceOf, listBackups } from './helpers.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startTestLab();
});
afterAll(() => lab.close());

const NOWHERE = '00000000-0000-4000-8000-000000000000';

test('the overview has the instance, its state and the dashboard that the config is made from', async () => {
  const orders = instanceOf(lab, 'orders');
  const { status, json } = await call(lab, 'GET', orders.v1);
  expect(status).toBe(200);
  const overview = InstanceOverview.parse(json);
  expect(overview).toMatchObject({ name: 'orders', state: 'provisioned' });
  expect(Config.parse(parse(lab.configYaml)).instances).toMatchObject({
    orders: { url: overview.urls?.[0]?.link, revision: 62, rehearsal: true, inFlight: 2000, role: 'source' },
    'orders-dr': { revision: 62, rehearsal: true, role: 'target', token: { file: lab.tokenFile } },
  });
});

test('both instances are of one service and plan, so that one can replace the other', async () => {
  const [source, target] = await Promise.all(
    (['orders', 'orders-dr'] as const).map((name) => call(lab, 'GET', instanceOf(lab, name).v1)),
  );
  const kind = z.object({ service_id: z.string(), plan_id: z.string() });
  expect(kind.parse(source?.json)).toEqual(kind.parse(target?.json));
});

test('the first backup exists when the lab is up, and can be downloaded', async () => {
  const [backup, ...others] = await listBackups(lab);
  expect(others).toEqual([]);
  expect(backup).toMatchObject({ id: 1, status: 'done', downloadable: true });
  expect(backup?.size).toBeGreaterThan(100_000);
  expect(backup?.backup_id).toMatch(/^[0-9a-f-]{36}-\d{13}$/);
  expect(await listBackups(lab, 'orders-dr')).toEqual([]);
});

test('revision 62 lists backup_id and no started_at, and shows one backup without either', async () => {
  const [listed] = await listBackups(lab);
  expect(listed).not.toHaveProperty('started_at', expect.anything());
  const { json } = await call(lab, 'GET', `${instanceOf(lab, 'orders').v1}/backups/1`);
  expect(Object.keys(z.record(z.string(), z.unknown()).parse(json)).toSorted()).toEqual([
    'downloadable',
    'finished_at',
    'id',
    'size',
    'status',
    'triggered_at',
  ]);
});

test('a backup is queued, runs and is done; without a user key it cannot be downloaded', async () => {
  const target = instanceOf(lab, 'orders-dr');
  const created = await call(lab, 'POST', `${target.v1}/backups`);
  expect(created).toMatchObject({ status: 200, json: { id: 1, message: expect.stringContaining('queued') } });
  const backup = await backupEnded(lab, 1, 'orders-dr');
  expect(backup).toMatchObject({ status: 'done', downloadable: false });
  const download = await call(lab, 'GET', `${target.v0}/backups/1/download`);
  expect(download).toMatchObject({ status: 412, json: { msg: expect.any(String) } });
});

test('both forms of the Authorization header are accepted, with the scheme in any case', async () => {
  const token = await readFile(lab.tokenFile, 'utf8');
  for (const authorization of [token, `Bearer ${token}`, `bearer ${token}`]) {
    expect((await call(lab, 'GET', instanceOf(lab, 'orders').v1, { authorization })).status).toBe(200);
  }
});

test('no token and a wrong one give 401, an insufficient one 403, and nothing changes', async () => {
  const { v1, v0 } = instanceOf(lab, 'orders');
  const readOnly = await readFile(join(dirname(lab.tokenFile), 'token-readonly'), 'utf8');
  const before = lab.calls().length;
  for (const authorization of ['', 'Bearer', 'Bearer wrong', `Basic ${readOnly}`]) {
    const refused = await call(lab, 'POST', `${v1}/backups`, { authorization });
    expect(refused).toMatchObject({ status: 401, json: { error: 'unauthorized' } });
    expect((await call(lab, 'GET', '/lab', { authorization })).status).toBe(401);
  }
  const anonymous = await call(lab, 'GET', `${v0}/backups/1/download`, { authorization: '' });
  expect(anonymous).toMatchObject({ status: 401, json: { msg: expect.any(String) } });
  const forbidden = await call(lab, 'POST', `${v1}/backups`, { authorization: readOnly });
  expect(forbidden).toMatchObject({ status: 403, json: { error: 'forbidden' } });
  expect((await call(lab, 'GET', v1, { authorization: readOnly })).status).toBe(200);
  expect((await call(lab, 'DELETE', '/lab/faults', { authorization: readOnly })).status).toBe(403);
  expect(lab.calls()).toHaveLength(before);
});

test('only their owner can read tokens and keys', async () => {
  for (const file of [lab.tokenFile, join(dirname(lab.tokenFile), 'token-readonly'), lab.keyFile]) {
    expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600');
  }
  expect(((await stat(lab.folder)).mode & 0o777).toString(8)).toBe('700');
});

test('an unknown resource is 404 in the words of V1, and 412 for a download', async () => {
  const { v1, v0 } = instanceOf(lab, 'orders');
  const asks = [
    `/v1/instances/${NOWHERE}`,
    `/v1/instances/${NOWHERE}/backups`,
    `${v1}/backups/999`,
    `${v1}/backups/x`,
    `${v1}/backups/01`,
    `${v1}/no-such-thing`,
    // Revision 62 has no download below V1.
    `${v1}/backups/1/download`,
  ];
  for (const path of asks) {
    const answer = await call(lab, 'GET', path);
    expect(answer, path).toMatchObject({
      status: 404,
      json: { error: expect.stringMatching(/^[a-z][A-Za-z]+$/), description: expect.any(String) },
    });
  }
  for (const path of [`${v0}/backups/999/download`, `/service-instances/${NOWHERE}/backups/1/download`]) {
    const { status, json } = await call(lab, 'GET', path);
    expect({ status, json }, path).toEqual({ status: 412, json: { msg: expect.any(String) } });
  }
});

test.each([
  ['a short key', { encryption_key: 'fifteen-letters' }],
  ['a key that is no text', { encryption_key: 1234567890123456 }],
  ['a negative count', { min_backup_count: -1 }],
  ['half a day', { retention_time: 0.5 }],
  ['a number as text', { retention_time: '3' }],
  ['yes for true', { exclude_from_auto_backup: 'yes' }],
  ['nothing for a number', { min_backup_count: null }],
  ['a list', []],
  ['one good and one bad field', { retention_time: 3, min_backup_count: -1 }],
])('a config change with %s is 422 and changes nothing', async (_what, body) => {
  const path = `${instanceOf(lab, 'orders').v1}/backups-config`;
  const before = await call(lab, 'GET', path);
  const calls = lab.calls().length;
  const refused = await call(lab, 'PATCH', path, { body });
  expect(refused).toMatchObject({ status: 422, json: { error: 'invalidParameters' } });
  expect((await call(lab, 'GET', path)).json).toEqual(before.json);
  expect(lab.calls()).toHaveLength(calls);
});

test('a body that is not JSON is 422, one that is too large 413', async () => {
  const path = `${instanceOf(lab, 'orders').v1}/backups-config`;
  expect((await call(lab, 'PATCH', path, { raw: '{"retention_time":' })).status).toBe(422);
  expect((await call(lab, 'PATCH', path, { raw: `"${'x'.repeat(100_000)}"` })).status).toBe(413);
});

test("settings change one by one, and the operator's stay", async () => {
  const path = `${instanceOf(lab, 'orders-dr').v1}/backups-config`;
  const changed = await call(lab, 'PATCH', path, { body: { retention_time: 3, backup_type: 'other' } });
  expect(changed).toMatchObject({ status: 200, json: { message: expect.any(String) } });
  expect((await call(lab, 'GET', path)).json).toEqual({
    min_backup_count: 5,
    retention_time: 3,
    min_encryption_key_length: 16,
    exclude_from_auto_backup: false,
    backup_type: 'standard',
  });
});

test('a new key ends the download of older backups, and no answer ever contains a key', async () => {
  const { v1, v0 } = instanceOf(lab, 'orders');
  const first = await readFile(lab.keyFile, 'utf8');
  const second = 'a second key of the user';
  const set = (encryption_key: string) =>
    call(lab, 'PATCH', `${v1}/backups-config`, { body: { encryption_key } });
  const answers = [await set(second)];
  expect((await listBackups(lab)).find(({ id }) => id === 1)?.downloadable).toBe(false);
  expect((await call(lab, 'GET', `${v0}/backups/1/download`)).status).toBe(412);
  // The same key once more is the user's current key again.
  answers.push(await set(first), await set(first));
  expect((await listBackups(lab)).find(({ id }) => id === 1)?.downloadable).toBe(true);
  answers.push(await call(lab, 'GET', `${v1}/backups-config`), await call(lab, 'GET', '/lab/calls'));
  for (const { status, text } of answers) {
    expect(status).toBe(200);
    expect(text).not.toContain(first);
    expect(text).not.toContain(second);
  }
  const marks = lab.calls().map(({ detail }) => detail['encryption_key']);
  expect(marks.slice(-3)).toEqual([
    expect.stringMatching(/^sha256:[0-9a-f]{12}$/),
    marks.at(-1),
    marks.at(-1),
  ]);
  expect(marks.at(-3)).not.toBe(marks.at(-1));
});

test('another process sees the same ledger', async () => {
  const { json } = await call(lab, 'GET', '/lab/calls');
  expect(json).toEqual(lab.calls());
  expect((await call(lab, 'GET', '/lab')).json).toMatchObject({ status: 'ready', revision: 62, faults: [] });
});
