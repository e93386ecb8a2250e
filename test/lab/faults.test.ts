import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Fault } from '../../src/lab/faults.ts';
import type { Lab } from '../../src/lab/lab.ts';
import { startTestLab } from '../bench-kit/lab.ts';
import {
  backupEnded,
  curl,
  downloadBackup,
  instanceOf,
  listBackups,
  temporaryFolder,
  until,
} from './helpers.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startTestLab();
});
afterAll(() => lab.close());
afterEach(() => lab.clearFaults());

const createBackup = () => curl(lab, 'POST', `${instanceOf(lab, 'orders').v1}/backups`);
const ids = async () => (await listBackups(lab)).map(({ id }) => id);

test('an answer lost after the work: the caller gets nothing, and the backup exists once', async () => {
  const [before, calls] = [await ids(), lab.calls().length];
  lab.fault({ method: 'POST', path: '/backups', effect: { kind: 'drop', when: 'after' } });
  expect(await createBackup()).toMatchObject({ exit: 52, status: 0, text: '' });
  const after = await ids();
  expect(after).toHaveLength(before.length + 1);
  expect(lab.calls().slice(calls)).toEqual([
    { at: expect.any(String), endpoint: 'POST /backups', instance: 'orders', detail: { backup: after[0] } },
  ]);
  expect(await backupEnded(lab, after[0] ?? 0)).toMatchObject({ status: 'done' });
});

test('a request lost before the work: the caller gets nothing, and nothing has happened', async () => {
  const [before, calls] = [await ids(), lab.calls().length];
  lab.fault({ method: 'POST', path: '/backups', effect: { kind: 'drop', when: 'before' } });
  expect(await createBackup()).toMatchObject({ exit: 52, status: 0 });
  expect(await ids()).toEqual(before);
  expect(lab.calls()).toHaveLength(calls);
});

test.each([500, 502, 504])('a router that answers %i says nothing about the work', async (status) => {
  // These backups are counted and not looked into.
  lab.fault({ times: 'always', effect: { kind: 'task', outcome: 'failed' } });
  const before = (await ids()).length;
  lab.fault({ method: 'POST', effect: { kind: 'answer', status, when: 'before' } });
  expect(await createBackup()).toMatchObject({
    status,
    type: 'text/html',
    text: expect.stringContaining('<html>'),
  });
  expect(await ids()).toHaveLength(before);
  lab.fault({ method: 'POST', effect: { kind: 'answer', status, when: 'after', body: 'json' } });
  expect(await createBackup()).toMatchObject({ status, json: { error: 'upstreamError' } });
  expect(await ids()).toHaveLength(before + 1);
});

test('an answer can be a page, empty, or cut in half', async () => {
  const list = () => curl(lab, 'GET', `${instanceOf(lab, 'orders').v1}/backups`);
  const whole = await list();
  lab.fault({ path: '/backups', effect: { kind: 'garble', body: 'html' } });
  expect(await list()).toMatchObject({ status: 200, type: 'text/html', json: undefined });
  lab.fault({ path: '/backups', effect: { kind: 'garble', body: 'empty' } });
  expect(await list()).toMatchObject({ exit: 0, status: 200, text: '' });
  lab.fault({ path: '/backups', effect: { kind: 'garble', body: 'truncated' } });
  const half = await list();
  expect(half.exit).toBe(18);
  expect(half.text).toBe(whole.text.slice(0, Math.floor(whole.text.length / 2)));
  expect((await list()).json).toEqual(whole.json);
});

test('a task can be made to fail; reading the list does not use the fault up', async () => {
  lab.fault({ effect: { kind: 'task', outcome: 'failed' } });
  const first = (await ids())[0] ?? 0;
  await createBackup();
  expect(await backupEnded(lab, first + 1)).toMatchObject({ status: 'failed', size: 0, downloadable: false });
});

test('a held task continues when the faults are cleared', async () => {
  lab.fault({ effect: { kind: 'task', outcome: 'queued' } });
  await createBackup();
  await createBackup();
  const [second, first] = await ids();
  // The later one is done, so the worker had its chance with the first.
  expect(await backupEnded(lab, second ?? 0)).toMatchObject({ status: 'done' });
  expect((await listBackups(lab)).find(({ id }) => id === first)).toMatchObject({ status: 'queued' });
  expect((await curl(lab, 'DELETE', '/lab/faults')).status).toBe(200);
  expect(await backupEnded(lab, first ?? 0)).toMatchObject({ status: 'done' });
});

test.each(['before', 'after'] as const)('a delay holds the answer back, %s the work', async (when) => {
  lab.fault({ times: 'always', effect: { kind: 'task', outcome: 'failed' } });
  const before = (await ids()).length;
  // An hour: what answers before that was not waited for.
  lab.fault({ method: 'POST', effect: { kind: 'delay', ms: 3_600_000, when } });
  const giveUp = new AbortController();
  let isAnswered = false;
  const held = fetch(`${lab.url}${instanceOf(lab, 'orders').v1}/backups`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await readFile(lab.tokenFile, 'utf8')}` },
    signal: giveUp.signal,
  }).finally(() => {
    isAnswered = true;
  });
  held.catch(() => undefined);
  await until('the call has come', async () => {
    const { json } = await curl(lab, 'GET', '/lab/faults');
    return JSON.stringify(json).includes('delay') ? undefined : true;
  });
  const done = when === 'before' ? 0 : 1;
  await until('its work is done, or left', async () =>
    (await ids()).length === before + done ? true : undefined,
  );
  expect(await createBackup()).toMatchObject({ status: 200 });
  expect(await ids()).toHaveLength(before + done + 1);
  expect(isAnswered).toBe(false);
  giveUp.abort();
  await expect(held).rejects.toMatchObject({ name: 'AbortError' });
  lab.fault({ method: 'POST', effect: { kind: 'delay', ms: 1, when } });
  expect(await createBackup()).toMatchObject({ status: 200 });
});

test('a download can be slow, and cut halfway', async () => {
  const [backup] = (await listBackups(lab)).toReversed();
  const size = backup?.size ?? 0;
  const url = `${lab.url}${instanceOf(lab, 'orders').v0}/backups/1/download`;
  const headers = { authorization: await readFile(lab.tokenFile, 'utf8') };
  // The whole of it would take an hour.
  const bytesPerSecond = Math.ceil(size / 3_600);
  lab.fault({ path: '/backups/:id/download', effect: { kind: 'slow', bytesPerSecond } });
  const giveUp = new AbortController();
  const slow = await fetch(url, { headers, signal: giveUp.signal });
  let received = 0;
  const reading = (async () => {
    for await (const bytes of slow.body ?? []) received += bytes.length;
  })();
  reading.catch(() => undefined);
  await until('it has started', async () => (received > 0 ? true : undefined));
  // One that began later has come to its end.
  expect((await (await fetch(url, { headers })).arrayBuffer()).byteLength).toBe(size);
  expect(received).toBeLessThan(size / 2);
  giveUp.abort();
  await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
  lab.fault({ path: '/backups/:id/download', effect: { kind: 'garble', body: 'truncated' } });
  const file = join(await temporaryFolder(), 'backup');
  await expect(downloadBackup(lab, 1, file)).rejects.toMatchObject({ code: 18 });
  expect(await readFile(file)).toHaveLength(Math.floor(size / 2));
});

test('a fault hits as often as specified, and only the instance that it names', async () => {
  const [orders, target] = [instanceOf(lab, 'orders'), instanceOf(lab, 'orders-dr')];
  lab.fault({
    instance: 'orders-dr',
    path: '/',
    times: 2,
    effect: { kind: 'answer', status: 502, when: 'before' },
  });
  lab.fault({
    instance: orders.guid,
    path: '/backups',
    times: 'always',
    effect: { kind: 'drop', when: 'before' },
  });
  const statuses: number[] = [];
  for (let look = 0; look < 3; look += 1) {
    statuses.push((await curl(lab, 'GET', target.v1)).status, (await curl(lab, 'GET', orders.v1)).status);
    statuses.push((await curl(lab, 'GET', `${orders.v1}/backups`)).status);
  }
  expect(statuses).toEqual([502, 200, 0, 502, 200, 0, 200, 200, 0]);
});

test('faults come over HTTP too, and one that cannot happen is refused with the reason', async () => {
  const fault: Fault = { method: 'GET', path: '/', effect: { kind: 'answer', status: 504, when: 'before' } };
  const added = await curl(lab, 'POST', '/lab/faults', { body: fault });
  expect(added).toMatchObject({ status: 200, json: { faults: [{ times: 1, path: '/' }] } });
  expect((await curl(lab, 'GET', instanceOf(lab, 'orders').v1)).status).toBe(504);
  for (const body of [
    { effect: { kind: 'explode' } },
    { path: '/backup', effect: { kind: 'drop', when: 'after' } },
    { method: 'GET', effect: { kind: 'task', outcome: 'failed' } },
    { path: '/', times: 0, effect: { kind: 'drop', when: 'after' } },
    {},
  ]) {
    const refused = await curl(lab, 'POST', '/lab/faults', { body });
    expect(refused).toMatchObject({ status: 422, json: { error: 'invalidFault' } });
  }
  expect(() => lab.fault({ path: '/backup', effect: { kind: 'drop', when: 'after' } })).toThrow(
    'this fault cannot happen: no endpoint matches; there are GET /, GET /backups, GET /backups/:id, POST /backups',
  );
});
