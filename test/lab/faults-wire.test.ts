import { existsSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Lab } from '../../src/lab/lab.ts';
import { ORDERS, startTestLab } from '../bench-kit/lab.ts';
import { backupEnded, curl, instanceOf, listBackups, run, temporaryFolder, until } from './helpers.ts';

let lab: Lab;
const lines: string[] = [];
beforeAll(async () => {
  lab = await startTestLab({ sso: false, instances: ORDERS, log: (line) => lines.push(line) });
});
afterAll(() => lab.close());
afterEach(() => {
  lab.clearFaults();
  expect(lines.filter((line) => line.includes('unexpected error'))).toEqual([]);
});

const token = () => readFile(lab.tokenFile, 'utf8');

/** Sends bytes and gives what comes back until the connection ends; `leaveAfter` bytes the client is gone. */
async function send(bytes: string, options: { readonly leaveAfter?: number } = {}): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(Number(new URL(lab.url).port), '127.0.0.1');
  let heard = '';
  socket.on('data', (data) => {
    heard += data.toString('latin1');
    if (heard.length >= (options.leaveAfter ?? Number.POSITIVE_INFINITY)) socket.resetAndDestroy();
  });
  // A server that refuses a body in the middle closes while the client still writes.
  socket.on('error', () => undefined);
  socket.on('close', () => resolve(heard));
  socket.write(bytes, 'latin1');
  return await promise;
}

async function request(line: string, fields: readonly string[] = [], body = ''): Promise<string> {
  const head = [
    `${line} HTTP/1.1`,
    `Host: ${new URL(lab.url).host}`,
    `Authorization: Bearer ${await token()}`,
    ...fields,
  ];
  return [...head, 'Connection: close', '', body].join('\r\n');
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d{3})/u.exec(answer)?.[1] ?? 0);
const bodyOf = (answer: string) => answer.slice(answer.indexOf('\r\n\r\n') + 4);

describe('methods', () => {
  test('HEAD answers like GET, without the body, also for a download', async () => {
    const { v1, v0 } = instanceOf(lab, 'orders');
    for (const path of [`${v1}/backups`, `${v0}/backups/1/download`]) {
      const [head, get] = [
        await send(await request(`HEAD ${path}`)),
        await send(await request(`GET ${path}`)),
      ];
      const fieldsOf = (answer: string) =>
        answer
          .split('\r\n\r\n')[0]
          ?.split('\r\n')
          .filter((field) => !field.startsWith('date:'));
      expect(fieldsOf(head)).toEqual(fieldsOf(get));
      expect([bodyOf(head), statusOf(head)]).toEqual(['', 200]);
      expect(bodyOf(get)).not.toBe('');
    }
  });

  test('a method that an endpoint lacks gets 405 with those that it has, in the words of the endpoint', async () => {
    const { v1, v0 } = instanceOf(lab, 'orders');
    for (const method of ['PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
      const answer = await send(await request(`${method} ${v1}/backups`));
      expect(statusOf(answer)).toBe(405);
      expect(answer).toContain('allow: GET, POST\r\n');
      expect(JSON.parse(bodyOf(answer))).toMatchObject({ error: 'methodNotAllowed' });
    }
    expect(JSON.parse(bodyOf(await send(await request(`PUT ${v0}/backups`))))).toEqual({
      msg: expect.any(String),
    });
    expect(statusOf(await send(await request(`SING ${v1}/backups`)))).toBe(400);
  });
});

describe('paths', () => {
  test('are decoded once; a broken encoding is an unknown path', async () => {
    const { guid } = instanceOf(lab, 'orders');
    const statuses = async (...paths: string[]) =>
      await Promise.all(paths.map(async (path) => statusOf(await send(await request(`GET ${path}`)))));
    const encoded = guid.replaceAll('-', '%2D');
    expect(await statuses(`/v1/instances/${encoded}/backups/%31`, `/v1/instances/${guid}/b%61ckups`)).toEqual(
      [200, 200],
    );
    expect(
      await statuses(
        `/v1/instances/${guid.replaceAll('-', '%252D')}`,
        '/v1/instances/%E0%A4%A/backups',
        `/v1/instances/${guid}/backups/%00`,
        `/v1/instances/${guid}/backups/1%2F..%2F1`,
        `/v1/instances/../../etc/passwd`,
        '/',
        '//',
      ),
    ).toEqual([404, 404, 404, 404, 404, 404, 404]);
  });

  test('unknown ones are 404 in the words of their base', async () => {
    const { v1, v0 } = instanceOf(lab, 'orders');
    expect(await curl(lab, 'GET', `${v1}/nothing`)).toMatchObject({
      status: 404,
      json: { error: 'notFound' },
    });
    expect((await curl(lab, 'GET', `${v0}/nothing`)).json).toEqual({ msg: expect.any(String) });
  });
});

describe('bodies', () => {
  test('that are huge get 413, broken ones 400 or 422; the next caller is served as usual', async () => {
    const line = `PATCH ${instanceOf(lab, 'orders').v1}/backups-config`;
    const size = 8 * 2 ** 20;
    const huge = await send(await request(line, [`Content-Length: ${size}`], 'x'.repeat(size)));
    const chunk = `${(65536).toString(16)}\r\n${'x'.repeat(65536)}\r\n`;
    const chunked = await send(await request(line, ['Transfer-Encoding: chunked'], chunk.repeat(40)));
    expect([statusOf(huge), statusOf(chunked)]).toEqual([413, 413]);
    const broken = [
      await send(await request(line, ['Transfer-Encoding: chunked'], 'zz\r\n')),
      await send(await request(line, ['Content-Length: many'], '{}')),
      await send(await request(line, ['Content-Length: 4', 'Content-Type: application/json'], '\u00ff{"a')),
      await send('\u0016\u0003\u0001\u0002 this is TLS\r\n\r\n'),
    ];
    expect(broken.map(statusOf)).toEqual([400, 400, 422, 400]);
    expect((await curl(lab, 'GET', instanceOf(lab, 'orders').v1)).status).toBe(200);
  });

  test('that never arrive completely have no effect', async () => {
    const { v1 } = instanceOf(lab, 'orders');
    const config = async () => (await curl(lab, 'GET', `${v1}/backups-config`)).json;
    const before = await config();
    const half = await request(
      `PATCH ${v1}/backups-config`,
      ['Content-Length: 400'],
      '{"retention_time": 1}',
    );
    const socket = connect(Number(new URL(lab.url).port), '127.0.0.1', () => {
      socket.write(half, () => socket.resetAndDestroy());
    });
    await new Promise((resolve) => socket.once('close', resolve));
    expect(await config()).toEqual(before);
  });
});

describe('clients', () => {
  test('two hundred at once, each on its own connection, all get their answers', async () => {
    const { v1 } = instanceOf(lab, 'orders');
    const ask = await request(`GET ${v1}/backups-config`);
    const answers = await Promise.all(Array.from({ length: 200 }, () => send(ask)));
    expect(new Set(answers.map(statusOf))).toEqual(new Set([200]));
    expect(new Set(answers.map(bodyOf)).size).toBe(1);
  });

  test('keep an idle connection for more than a minute, as the answer says', async () => {
    const ask = (await request(`GET ${instanceOf(lab, 'orders').v1}`)).replace('Connection: close\r\n', '');
    const answer = await send(ask, { leaveAfter: 200 });
    expect(Number(/keep-alive: timeout=(\d+)/iu.exec(answer)?.[1])).toBeGreaterThanOrEqual(65);
  });

  test.skipIf(!existsSync('/proc/self/fd'))(
    'that leave in the middle of a download leave no open file behind, and disturb no other client',
    async () => {
      const path = `${instanceOf(lab, 'orders').v0}/backups/1/download`;
      const size = (await listBackups(lab)).at(-1)?.size ?? 0;
      lab.fault({
        path: '/backups/:id/download',
        times: 20,
        effect: { kind: 'slow', bytesPerSecond: Math.ceil(size / 20) },
      });
      const ask = await request(`GET ${path}`);
      await Promise.all(Array.from({ length: 20 }, () => send(ask, { leaveAfter: 2_000 })));
      const open = async () => {
        const files = (await readdir('/proc/self/fd')).map((fd) =>
          readlink(join('/proc/self/fd', fd)).catch(() => ''),
        );
        return (await Promise.all(files)).filter((file) => file.endsWith('.tgz.enc')).length;
      };
      await until('the files are closed', async () => ((await open()) === 0 ? true : undefined));
      const file = join(await temporaryFolder(), 'backup');
      await run('curl', ['-sSf', '-o', file, '-H', `Authorization: ${await token()}`, `${lab.url}${path}`]);
      expect(await readFile(file)).toHaveLength(size);
    },
  );

  test('that leave before their answer do not undo the work', async () => {
    const { v1 } = instanceOf(lab, 'orders');
    const [newest = { id: 0 }] = await listBackups(lab);
    lab.fault({ method: 'POST', path: '/backups', effect: { kind: 'delay', ms: 300 } });
    const create = await request(`POST ${v1}/backups`, ['Content-Length: 0']);
    const socket = connect(Number(new URL(lab.url).port), '127.0.0.1', () => {
      socket.write(create, () => socket.resetAndDestroy());
    });
    expect(await backupEnded(lab, newest.id + 1)).toMatchObject({ status: 'done' });
  });
});
