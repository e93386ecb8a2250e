import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rangeIn } from '../../src/lab/http/backups.ts';
import type { Lab } from '../../src/lab/lab.ts';
import { startTestLab } from '../bench-kit/lab.ts';
import { call, instanceOf, listBackups, run, temporaryFolder } from './helpers.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startTestLab({ revision: 61, sso: false, instances: [{ name: 'orders', key: true }] });
});
afterAll(() => lab.close());

test('started_at and backup_id are in the list and in one backup', async () => {
  const [listed] = await listBackups(lab);
  const { json } = await call(lab, 'GET', `${instanceOf(lab, 'orders').v1}/backups/1`);
  expect(listed).toMatchObject({ started_at: expect.stringMatching(/T.*Z$/), backup_id: expect.any(String) });
  expect(json).toEqual(listed);
});

test('creating a backup is 202, and 409 while one is in progress', async () => {
  const path = `${instanceOf(lab, 'orders').v1}/backups`;
  lab.fault({ method: 'POST', path: '/backups', effect: { kind: 'task', outcome: 'queued' } });
  expect((await call(lab, 'POST', path)).status).toBe(202);
  const busy = await call(lab, 'POST', path);
  expect(busy).toMatchObject({ status: 409, json: { error: 'backupInProgress' } });
  expect(lab.calls()).toHaveLength(1);
  expect((await listBackups(lab))[0]).toMatchObject({ status: 'queued', started_at: undefined });
  lab.clearFaults();
});

test('the download is below V1, and its errors carry message and status', async () => {
  const { v1 } = instanceOf(lab, 'orders');
  const { status, json } = await call(lab, 'GET', `${v1}/backups/999/download`);
  expect({ status, json }).toEqual({ status: 412, json: { message: expect.any(String), status: 412 } });
  const file = join(await temporaryFolder(), 'backup');
  const token = await readFile(lab.tokenFile, 'utf8');
  await run('curl', [
    '-sSf',
    '-o',
    file,
    '-H',
    `Authorization: ${token}`,
    `${lab.url}${v1}/backups/1/download`,
  ]);
  const bytes = await readFile(file);
  const [backup] = (await listBackups(lab)).toReversed();
  expect(bytes).toHaveLength(backup?.size ?? 0);
  const sidecar = await readFile(join(lab.folder, 'store', `${backup?.backup_id}.json`), 'utf8');
  expect(JSON.parse(sidecar)).toMatchObject({ sha256: createHash('sha256').update(bytes).digest('hex') });
});

test('without the sign-on V0 answers at once, and sets no cookie', async () => {
  const authorization = `bearer ${await readFile(lab.tokenFile, 'utf8')}`;
  const url = `${lab.url}${instanceOf(lab, 'orders').v0}/backups`;
  const answer = await fetch(url, { headers: { authorization }, redirect: 'manual' });
  expect(answer.status).toBe(200);
  expect(answer.headers.has('set-cookie')).toBe(false);
});

describe('a Range field over 100 bytes', () => {
  test.each([
    ['bytes=0-31', { start: 0, end: 32 }],
    ['bytes=0-', { start: 0, end: 100 }],
    ['bytes=99-', { start: 99, end: 100 }],
    ['bytes=90-500', { start: 90, end: 100 }],
    ['bytes=-7', { start: 93, end: 100 }],
    ['bytes=-500', { start: 0, end: 100 }],
    ['BYTES= 3-3 ', { start: 3, end: 4 }],
    ['bytes=100-', 'beyond'],
    ['bytes=100-200', 'beyond'],
    ['bytes=-0', 'beyond'],
    [undefined, undefined],
    ['', undefined],
    ['bytes=-', undefined],
    ['bytes=7-3', undefined],
    ['bytes=0-1,5-6', undefined],
    ['bytes=a-b', undefined],
    ['lines=0-1', undefined],
  ] as const)('%s', (field, part) => {
    expect(rangeIn(field, 100)).toEqual(part);
  });
});

async function download(headers: Record<string, string>, base: 'v0' | 'v1' = 'v0') {
  const authorization = await readFile(lab.tokenFile, 'utf8');
  const answer = await fetch(`${lab.url}${instanceOf(lab, 'orders')[base]}/backups/1/download`, {
    headers: { authorization, ...headers },
  });
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}

/** Vitest would look at each byte of a megabyte by itself. */
function expectWhole({ status, bytes }: Awaited<ReturnType<typeof download>>, whole: Buffer): void {
  expect(status).toBe(200);
  expect(bytes.equals(whole)).toBe(true);
}

test('a download returns the requested range, on both bases', async () => {
  const whole = await download({});
  const size = whole.bytes.length;
  expect(whole).toMatchObject({ status: 200 });
  expect(whole.headers.get('accept-ranges')).toBe('bytes');
  for (const base of ['v0', 'v1'] as const) {
    for (const [range, start, end] of [
      ['bytes=0-31', 0, 32],
      ['bytes=100-', 100, size],
      ['bytes=-10', size - 10, size],
    ] as const) {
      const part = await download({ range }, base);
      expect(part.status).toBe(206);
      expect(part.headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/${size}`);
      expect(part.headers.get('content-length')).toBe(String(end - start));
      expect(part.bytes.equals(whole.bytes.subarray(start, end))).toBe(true);
    }
  }
  const beyond = await download({ range: `bytes=${size}-` });
  expect(beyond.status).toBe(416);
  expect(beyond.headers.get('content-range')).toBe(`bytes */${size}`);
  expectWhole(await download({ range: 'bytes=0-1,4-5' }), whole.bytes);
});

test('If-Range returns a part when the bytes are the same, and everything otherwise', async () => {
  const whole = await download({});
  const etag = whole.headers.get('etag') ?? '';
  const range = 'bytes=5-9';
  expect((await download({ range, 'if-range': etag })).bytes.equals(whole.bytes.subarray(5, 10))).toBe(true);
  for (const other of ['"other"', `W/${etag}`, new Date().toUTCString()]) {
    expectWhole(await download({ range, 'if-range': other }), whole.bytes);
  }
  expect((await download({ range: `bytes=${whole.bytes.length}-`, 'if-range': '"other"' })).status).toBe(200);
});
