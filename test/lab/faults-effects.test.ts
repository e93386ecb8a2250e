import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Lab } from '../../src/lab/lab.ts';
import { ORDERS, startTestLab } from '../bench-kit/lab.ts';
import { backupEnded, curl, instanceOf, listBackups, run, temporaryFolder } from './helpers.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startTestLab({ sso: false, instances: ORDERS });
});
afterAll(() => lab.close());
afterEach(() => lab.clearFaults());

const list = () => curl(lab, 'GET', `${instanceOf(lab, 'orders').v1}/backups`);
const createBackup = () => curl(lab, 'POST', `${instanceOf(lab, 'orders').v1}/backups`);
const ids = async () => (await listBackups(lab)).map(({ id }) => id);

/** What curl saw, head included. */
async function look(path: string, ...options: string[]) {
  const token = await readFile(lab.tokenFile, 'utf8');
  const args = ['-sS', '-i', '-H', `Authorization: Bearer ${token}`, ...options, `${lab.url}${path}`];
  const { exit, stdout } = await run('curl', args, { encoding: 'latin1', maxBuffer: 2 ** 26 }).then(
    (done) => ({ exit: 0, stdout: done.stdout }),
    (error: { code: number; stdout: string }) => ({ exit: error.code, stdout: error.stdout }),
  );
  const [head = '', ...rest] = stdout.split('\r\n\r\n');
  const [line = '', ...fields] = head.split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => field.split(/: (.*)/u)).map(([name = '', value]) => [name.toLowerCase(), value]),
  );
  return { exit, status: Number(line.split(' ')[1] ?? 0), headers, text: rest.join('\r\n\r\n') };
}

describe('a connection', () => {
  test('can be reset before the request is processed: curl reports it, and nothing has happened', async () => {
    const [before, calls] = [await ids(), lab.calls().length];
    lab.fault({ method: 'POST', path: '/backups', effect: { kind: 'refuse' } });
    // 56 is curl's word for a connection that was reset while it waited for the answer.
    expect(await createBackup()).toMatchObject({ exit: 56, status: 0, text: '' });
    expect(await ids()).toEqual(before);
    expect(lab.calls()).toHaveLength(calls);
  });

  test('can end at the limit of a router: the work is done, however fast, and no answer arrives', async () => {
    const before = (await ids()).length;
    lab.fault({ method: 'POST', path: '/backups', effect: { kind: 'abort', ms: 200 } });
    expect(await createBackup()).toMatchObject({ exit: 52, status: 0, text: '' });
    expect(await ids()).toHaveLength(before + 1);
  });

  test('can end in the middle of a download: at the limit, or just before the last byte', async () => {
    const path = `${instanceOf(lab, 'orders').v0}/backups/1/download`;
    const whole = await look(path);
    const size = Number(whole.headers['content-length']);
    expect(whole.text).toHaveLength(size);
    lab.fault({ path: '/backups/:id/download', effect: { kind: 'abort', ms: 2_000 } });
    const quick = await look(path);
    expect(quick).toMatchObject({ exit: 18, status: 200, text: whole.text.slice(0, -1) });
    lab.fault({
      path: '/backups/:id/download',
      effect: { kind: 'slow', bytesPerSecond: Math.ceil(size / 60) },
    });
    lab.fault({ path: '/backups/:id/download', effect: { kind: 'abort', ms: 1_000 } });
    const slow = await look(path);
    expect(slow).toMatchObject({ exit: 18, status: 200 });
    expect(slow.text.length).toBeGreaterThan(0);
    expect(slow.text.length).toBeLessThan(size / 2);
    expect(whole.text.startsWith(slow.text)).toBe(true);
  });
});

describe('an answer', () => {
  test.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'notFound'],
    [409, 'alreadyInProgress'],
    [429, 'tooManyRequests'],
    [500, 'upstreamError'],
    [502, 'upstreamError'],
    [503, 'upstreamError'],
    [504, 'upstreamError'],
  ])('can be %i in JSON, as a page or without a body, and say when to try again', async (status, error) => {
    const path = `${instanceOf(lab, 'orders').v1}/backups`;
    for (const body of ['json', 'html', 'empty'] as const) {
      lab.fault({ method: 'GET', effect: { kind: 'answer', status, when: 'before', body, retryAfter: 7 } });
    }
    const [json, html, empty] = [await look(path), await look(path), await look(path)];
    expect(JSON.parse(json.text)).toMatchObject({ error, description: expect.any(String) });
    expect(html).toMatchObject({ status, headers: { 'content-type': 'text/html', 'retry-after': '7' } });
    expect(html.text).toContain(`<h1>${status} `);
    expect(empty).toMatchObject({ exit: 0, status, text: '' });
    expect(empty.headers).toMatchObject({ 'content-length': '0', 'retry-after': '7' });
  });

  test('in JSON uses the words of its endpoint', async () => {
    const { v0 } = instanceOf(lab, 'orders');
    for (const path of [`${v0}/backups`, `${v0}/backups/1/download`]) {
      lab.fault({ effect: { kind: 'answer', status: 401, when: 'before', body: 'json' } });
      expect(await curl(lab, 'GET', path)).toMatchObject({
        status: 401,
        json: { msg: 'no valid authentication credentials' },
      });
    }
  });

  test('can redirect to another origin, with path and query; a redirected POST does nothing', async () => {
    const path = `${instanceOf(lab, 'orders').v1}/backups`;
    const before = await ids();
    lab.fault({ effect: { kind: 'redirect', to: 'https://elsewhere.example/ignored', status: 307 } });
    const answer = await look(`${path}?page=2`, '-X', 'POST');
    expect(answer).toMatchObject({
      status: 307,
      text: '',
      headers: { location: `https://elsewhere.example${path}?page=2` },
    });
    expect(await ids()).toEqual(before);
  });

  test('with a redirect gets the token from a careless client, which the lab makes visible', async () => {
    const seen: (string | undefined)[] = [];
    const elsewhere = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.end('{}');
    }).listen(0, '127.0.0.1');
    try {
      await new Promise((resolve) => elsewhere.once('listening', resolve));
      const to = `http://localhost:${(elsewhere.address() as AddressInfo).port}`;
      lab.fault({ times: 2, effect: { kind: 'redirect', to: to.replace('localhost', '127.0.0.1') } });
      const path = `${instanceOf(lab, 'orders').v1}/backups`;
      await look(path, '-L');
      await look(path, '--location-trusted');
      expect(seen).toEqual([undefined, `Bearer ${await readFile(lab.tokenFile, 'utf8')}`]);
    } finally {
      elsewhere.close();
    }
  });

  test('can have wrong types, nulls and unknown words, and still be JSON', async () => {
    const whole = (await list()).json as Record<string, unknown>[];
    const spoiled: unknown[] = [];
    for (const body of ['strings', 'objects', 'nulls', 'enums'] as const) {
      lab.fault({ method: 'GET', path: '/backups', effect: { kind: 'garble', body } });
      const answer = await list();
      expect(answer).toMatchObject({ exit: 0, status: 200, type: 'application/json' });
      spoiled.push(answer.json);
    }
    const keys = Object.keys(whole[0] ?? {});
    expect(spoiled).toEqual([
      whole.map((backup) => ({ ...backup, id: String(backup['id']), size: String(backup['size']) })),
      { ...whole },
      whole.map(() => Object.fromEntries(keys.map((key) => [key, null]))),
      whole.map((backup) => ({ ...backup, status: 'hibernating' })),
    ]);
    expect((await list()).json).toEqual(whole);
  });

  test('can claim to be JSON and be something else, or be an empty 204', async () => {
    const path = `${instanceOf(lab, 'orders').v1}/backups`;
    lab.fault({ path: '/backups', effect: { kind: 'garble', body: 'text' } });
    const text = await look(path);
    expect(text).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } });
    expect(() => JSON.parse(text.text)).toThrow();
    lab.fault({ path: '/backups', effect: { kind: 'garble', body: 'no-content' } });
    const nothing = await look(path);
    expect(nothing).toMatchObject({ exit: 0, status: 204, text: '' });
    expect(nothing.headers).not.toHaveProperty('content-length');
  });

  test('of one endpoint can show a wrong time, while the others show the right one', async () => {
    const path = instanceOf(lab, 'orders').v1;
    const hour = 3_600_000;
    lab.fault({ path: '/backups', effect: { kind: 'date', skewMs: -2 * hour } });
    const dates = await Promise.all(
      [`${path}/backups`, path].map(async (each) => Date.parse((await look(each)).headers['date'] ?? '')),
    );
    const [wrong = 0, right = 0] = dates;
    expect(Math.round((right - wrong) / hour)).toBe(2);
    expect(Math.abs(right - Date.now())).toBeLessThan(hour);
  });
});

describe('a colleague', () => {
  test('starts a backup just before ours: there are two, and both are done', async () => {
    const before = await ids();
    lab.fault({ method: 'POST', path: '/backups', effect: { kind: 'colleague' } });
    const ours = await createBackup();
    const [newest = 0, second = 0, ...rest] = await ids();
    expect(rest).toEqual(before);
    expect(ours.json).toMatchObject({ id: newest });
    for (const id of [newest, second]) expect(await backupEnded(lab, id)).toMatchObject({ status: 'done' });
  });
});

describe('luck', () => {
  test('follows from the seed: the same calls fail again, and the others are untouched', async () => {
    const fails = async () => {
      lab.fault({
        path: '/',
        after: 2,
        times: 'always',
        probability: 0.5,
        seed: 5,
        effect: { kind: 'answer', status: 503, when: 'before' },
      });
      const statuses: number[] = [];
      for (let call = 0; call < 14; call += 1) {
        statuses.push((await curl(lab, 'GET', instanceOf(lab, 'orders').v1)).status);
      }
      lab.clearFaults();
      return statuses;
    };
    const first = await fails();
    expect(await fails()).toEqual(first);
    expect(first.slice(0, 2)).toEqual([200, 200]);
    expect(new Set(first)).toEqual(new Set([200, 503]));
  });
});

test('a disturbed download is complete the next time, byte for byte', async () => {
  const file = join(await temporaryFolder(), 'backup');
  const path = `${instanceOf(lab, 'orders').v0}/backups/1/download`;
  const hash = async () => {
    const token = await readFile(lab.tokenFile, 'utf8');
    await run('curl', ['-sSf', '-o', file, '-H', `Authorization: ${token}`, `${lab.url}${path}`]);
    return createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
  };
  const before = await hash();
  lab.fault({ path: '/backups/:id/download', effect: { kind: 'garble', body: 'truncated' } });
  await expect(hash()).rejects.toMatchObject({ code: 18 });
  expect(await hash()).toBe(before);
});
