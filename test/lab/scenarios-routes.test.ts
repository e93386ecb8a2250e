import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Lab } from '../../src/lab/lab.ts';
import { ORDERS, startTestLab } from '../bench-kit/lab.ts';
import { call, instanceOf } from './helpers.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startTestLab({ instances: ORDERS });
});
afterAll(() => lab.close());

const DAY = 86_400_000;

test('every route that changes something needs the full token, and every route a token', async () => {
  const readOnly = await readFile(join(dirname(lab.tokenFile), 'token-readonly'), 'utf8');
  const writes: [string, string][] = [
    ['POST', '/lab/faults'],
    ['DELETE', '/lab/faults'],
    ['POST', '/lab/scenario'],
    ['POST', '/lab/instances/orders/disaster'],
    ['POST', '/lab/instances/orders/bindings'],
    ['DELETE', '/lab/instances/orders/bindings/1'],
    ['POST', '/lab/clock'],
    ['POST', '/lab/tokens'],
  ];
  const reads = [
    '/lab',
    '/lab/calls',
    '/lab/faults',
    '/lab/scenario',
    '/lab/clock',
    '/lab/instances/orders/bindings',
  ];
  for (const [method, path] of [...writes, ...reads.map((path): [string, string] => ['GET', path])]) {
    expect((await call(lab, method, path, { authorization: '' })).status).toBe(401);
    const { status } = await call(lab, method, path, { authorization: readOnly });
    expect([method, path, status]).toEqual([method, path, method === 'GET' ? 200 : 403]);
  }
});

test('the clock of the service jumps, speeds up and is skewed, and answers have its time', async () => {
  const clock = async (body?: unknown) =>
    (await call(lab, body === undefined ? 'GET' : 'POST', '/lab/clock', { body })).json as {
      now: string;
      rate: number;
      skewMs: number;
      aheadMs: number;
    };
  expect(await clock()).toMatchObject({ rate: 1, skewMs: 0, aheadMs: 0 });
  expect(await clock({ advance: '30d' })).toMatchObject({ aheadMs: 30 * DAY });
  const skewed = await clock({ rate: 60, skew: '-10m' });
  expect(skewed).toMatchObject({ rate: 60, skewMs: -600_000 });
  expect(Date.parse(skewed.now) - Date.now()).toBeGreaterThan(29 * DAY);
  const { v1 } = instanceOf(lab, 'orders');
  await call(lab, 'PATCH', `${v1}/backups-config`, { body: { retention_time: 90 } });
  const overview = (await call(lab, 'GET', v1)).json as { updated_at: string };
  expect(Date.parse(overview.updated_at) - Date.now()).toBeGreaterThan(29 * DAY);
  const { headers } = await fetch(lab.url);
  expect(Date.parse(headers.get('date') ?? '') - Date.now()).toBeGreaterThan(29 * DAY);
  for (const body of [{}, { advance: '-1d' }, { advance: 'tomorrow' }, { rate: 0.5 }, { speed: 2 }, 'x']) {
    const refused = await call(lab, 'POST', '/lab/clock', { body });
    expect(refused).toMatchObject({ status: 422, json: { error: 'invalidParameters' } });
  }
  for (const body of [
    { advance: '99999999d' },
    { advance: '3000000d' },
    { rate: 1e9 },
    { skew: '9999999d' },
  ]) {
    expect(await call(lab, 'POST', '/lab/clock', { body })).toMatchObject({ status: 422 });
  }
  expect(await clock({ rate: 1, skew: '0s' })).toMatchObject({ rate: 1, skewMs: 0 });
});

test('the file holds a fresh token, and the old one stays valid unless it was expired', async () => {
  const { v1 } = instanceOf(lab, 'orders');
  const read = () => readFile(lab.tokenFile, 'utf8');
  const statusWith = async (authorization: string) => (await call(lab, 'GET', v1, { authorization })).status;
  const first = await read();
  expect(await call(lab, 'POST', '/lab/tokens', { body: { expire: false } })).toMatchObject({
    status: 200,
    json: { file: lab.tokenFile },
  });
  const second = await read();
  expect([await statusWith(first), await statusWith(second)]).toEqual([200, 200]);
  await call(lab, 'POST', '/lab/tokens', { body: { expire: true } });
  const third = await read();
  expect([await statusWith(first), await statusWith(second), await statusWith(third)]).toEqual([
    401, 401, 200,
  ]);
  expect(new Set([first, second, third]).size).toBe(3);
  expect(((await stat(lab.tokenFile)).mode & 0o777).toString(8)).toBe('600');
  expect((await call(lab, 'POST', '/lab/tokens', { body: {} })).status).toBe(422);
});

test('an application is bound with working credentials, listed without password, and unbound', async () => {
  const path = '/lab/instances/orders/bindings';
  const bound = await call(lab, 'POST', path, { body: { app: 'orders-api' } });
  const binding = bound.json as {
    id: string;
    app: string;
    credentials: { uri: string; username: string; password: string; host: string; database: string };
  };
  const { username, password, host, database } = binding.credentials;
  const ask = async () => {
    const client = new pg.Client({ user: username, password, host, database });
    try {
      await client.connect();
      return (await client.query('select session_user as me')).rows;
    } finally {
      await client.end();
    }
  };
  expect(await ask()).toEqual([{ me: username }]);
  const listed = await call(lab, 'GET', path);
  expect(listed.json).toMatchObject([{ id: binding.id, app: 'orders-api' }]);
  expect(listed.text).not.toContain(password);
  expect((await call(lab, 'DELETE', `${path}/${binding.id}`)).status).toBe(200);
  await expect(ask()).rejects.toThrow();
  expect((await call(lab, 'DELETE', `${path}/${binding.id}`)).status).toBe(404);
  expect((await call(lab, 'POST', path, { body: { app: '' } })).status).toBe(422);
  expect((await call(lab, 'POST', '/lab/instances/nowhere/bindings', { body: { app: 'a' } })).status).toBe(
    404,
  );
});

test('a scenario that cannot be played changes nothing and says why', async () => {
  const fault = { times: 'always', path: '/', effect: { kind: 'answer', status: 503, when: 'before' } };
  const scenario = { name: 'mine', summary: 'Mine.', faults: [fault] };
  const play = (body: unknown) => call(lab, 'POST', '/lab/scenario', { body });
  expect(await play(scenario)).toMatchObject({ status: 200, json: { playing: 'mine' } });
  const { v1 } = instanceOf(lab, 'orders');
  for (const [body, error, why] of [
    [{ name: 'earthquake' }, 'invalidScenario', 'earthquake'],
    [{ summary: 'Nameless.' }, 'invalidScenario', 'name'],
    [{ ...scenario, timeline: [{ do: 'lose', instance: 'order' }] }, 'invalidScenario', 'no instance order'],
    [{ ...scenario, timeline: [{ do: 'clear', after: 'soon' }] }, 'invalidScenario', 'timeline[0].after'],
    [{ ...scenario, faults: [{ ...fault, path: '/backup' }] }, 'invalidFault', 'no endpoint matches'],
    [
      { ...scenario, timeline: [{ do: 'fault', fault: { ...fault, instance: 'x' } }] },
      'invalidFault',
      'no instance x',
    ],
    [undefined, 'invalidScenario', 'expected object'],
  ] as const) {
    const refused = await play(body);
    expect(refused).toMatchObject({ status: 422, json: { error } });
    expect(refused.text).toContain(why);
    expect((await call(lab, 'GET', '/lab/scenario')).json).toMatchObject({ playing: 'mine' });
    expect((await call(lab, 'GET', v1)).status).toBe(503);
  }
  expect((await play({ name: 'calm' })).json).toMatchObject({
    playing: 'calm',
    scenarios: expect.arrayContaining([{ name: 'region-loss', summary: expect.any(String) }]),
  });
  expect((await call(lab, 'GET', v1)).status).toBe(200);
});
