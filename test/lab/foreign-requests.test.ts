import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Lab } from '../../src/lab/lab.ts';
import { startTestLab } from '../bench-kit/lab.ts';
import { call, instanceOf } from './helpers.ts';
import { appsAre } from './platform-helpers.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startTestLab({ platform: {}, instances: [{ name: 'orders', sampleApp: true, key: true }] });
});
afterAll(() => lab.close());

/** Status of a request that is written byte for byte, over a connection to the lab's address. */
async function status(url: string, line: string, fields: readonly string[]): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let heard = '';
  socket.on('data', (data) => {
    heard += data.toString('latin1');
  });
  socket.on('close', () => resolve(heard));
  socket.write([line, ...fields, 'Connection: close', '', ''].join('\r\n'));
  return Number(/^HTTP\/1\.1 (\d{3})/u.exec(await promise)?.[1]);
}

function everyRoute(): readonly string[] {
  const { v1, v0 } = instanceOf(lab, 'orders');
  return [
    ...['GET /openapi.json', 'GET /lab', 'GET /lab/calls', 'POST /lab/faults', 'POST /lab/tokens'],
    ...[`GET ${v1}`, `GET ${v1}/backups`, `POST ${v1}/backups`, `GET ${v0}/backups`, `POST ${v0}/backups`],
    ...[`GET ${v0}/backups/1/download`, 'GET /sso/login?code=x', 'GET /v3/apps', 'GET /', 'GET /nowhere'],
  ];
}

test('a request for another host or port is refused on every route, even with the token', async () => {
  const port = new URL(lab.url).port;
  const token = `Authorization: ${await readFile(lab.tokenFile, 'utf8')}`;
  const foreign = [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1',
    '127.0.0.1:1',
    `127.0.0.1.nip.io:${port}`,
  ];
  for (const route of everyRoute()) {
    for (const host of foreign) {
      expect(await status(lab.url, `${route} HTTP/1.1`, [`Host: ${host}`, token]), `${host}: ${route}`).toBe(
        421,
      );
    }
  }
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`]) {
    expect(await status(lab.url, 'GET /lab HTTP/1.1', [`Host: ${host}`, token])).toBe(200);
  }
  expect(await status(lab.url, 'GET /lab HTTP/1.0', [token])).toBe(200);
});

test('a request from a foreign web page is refused on every route, even with the token', async () => {
  const { host, port } = new URL(lab.url);
  const own = [`Host: ${host}`, `Authorization: ${await readFile(lab.tokenFile, 'utf8')}`];
  const foreign = [
    'http://evil.example',
    'null',
    `https://${host}`,
    'http://127.0.0.1:1',
    `http://${host}.evil.example`,
  ];
  for (const route of everyRoute()) {
    for (const origin of foreign) {
      const answer = await status(lab.url, `${route} HTTP/1.1`, [...own, `Origin: ${origin}`]);
      expect(answer, `${origin}: ${route}`).toBe(403);
    }
  }
  for (const origin of [`http://${host}`, `http://localhost:${port}`]) {
    expect(await status(lab.url, 'GET /lab HTTP/1.1', [...own, `Origin: ${origin}`])).toBe(200);
  }
  expect(lab.calls()).toEqual([]);
});

test('without a token only the description is answered', async () => {
  const { v1 } = instanceOf(lab, 'orders');
  const more = [
    `PATCH ${v1}/nowhere`,
    `DELETE ${v1}/backups`,
    'DELETE /lab/faults',
    'GET /lab/nowhere',
    'GET /v3/nowhere',
  ];
  for (const route of [
    ...everyRoute(),
    ...more,
    'GET /v3',
    'GET /v3/info',
    'POST /v3/apps',
    'DELETE /v3/nowhere',
  ]) {
    const [method = '', path = ''] = route.split(' ');
    for (const authorization of ['', 'Bearer wrong']) {
      const answer = await call(lab, method, path, { authorization });
      expect(answer.status, route).toBe(path === '/openapi.json' ? 200 : 401);
    }
  }
});

test('a sample application answers no other host and no web page', async () => {
  await appsAre(lab, 'ok');
  const url = lab.platform?.appStates()[0]?.url ?? '';
  const { host, port } = new URL(url);
  expect(await status(url, 'GET / HTTP/1.1', [`Host: ${host}`])).toBe(200);
  expect(await status(url, 'GET / HTTP/1.1', [`Host: evil.example:${port}`])).toBe(421);
  expect(await status(url, 'GET / HTTP/1.1', [`Host: ${host}`, 'Origin: http://evil.example'])).toBe(421);
});
