import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Lab } from '../../src/lab/lab.ts';
import { startTestLab } from '../bench-kit/lab.ts';
import { curl, instanceOf, listBackups, run, until } from './helpers.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startTestLab();
});
afterAll(() => lab.close());

const disaster = (name: string, lost: boolean) =>
  curl(lab, 'POST', `/lab/instances/${name}/disaster`, { body: { lost } });

test('while an instance is lost a router answers every request for it; other instances are unaffected', async () => {
  const { v1, v0, query } = instanceOf(lab, 'orders');
  await query('create table proof as select 42 as answer');
  expect(await disaster('orders', true)).toMatchObject({ status: 200, json: { name: 'orders', lost: true } });
  const asks: [string, string][] = [
    ['GET', v1],
    ['GET', `${v1}/backups`],
    ['POST', `${v1}/backups`],
    ['PATCH', `${v1}/restart`],
    ['GET', `${v0}/backups`],
    ['GET', `${v0}/backups/1/download`],
    ['GET', `${v1}/nothing`],
  ];
  for (const [method, path] of asks) {
    for (const authorization of [undefined, 'Bearer wrong', '']) {
      const answer = await curl(lab, method, path, authorization === undefined ? {} : { authorization });
      expect(answer).toMatchObject({ status: 502, type: 'text/html', json: undefined });
      expect(answer.text).toContain('<h1>502 Bad Gateway</h1>');
    }
  }
  expect((await curl(lab, 'GET', instanceOf(lab, 'orders-dr').v1)).status).toBe(200);
  expect((await curl(lab, 'GET', '/lab')).json).toMatchObject({
    instances: [
      { name: 'orders', state: 'lost' },
      { name: 'orders-dr', state: 'running' },
    ],
  });
  expect((await disaster(instanceOf(lab, 'orders').guid, false)).json).toEqual({
    name: 'orders',
    lost: false,
    state: 'running',
  });
  expect((await curl(lab, 'GET', v1)).status).toBe(200);
  expect(await query('select answer from proof')).toEqual([{ answer: 42 }]);
});

test('a call in progress when the instance is lost gets no answer from it', async () => {
  const { v1 } = instanceOf(lab, 'orders');
  const before = (await listBackups(lab)).length;
  lab.fault({ method: 'POST', path: '/backups', effect: { kind: 'delay', ms: 1_500, when: 'after' } });
  const answer = curl(lab, 'POST', `${v1}/backups`);
  await until('it is under way', async () => ((await listBackups(lab)).length > before ? true : undefined));
  await disaster('orders', true);
  expect(await answer).toMatchObject({ status: 502, type: 'text/html' });
  await disaster('orders', false);
});

test('a download in progress when the instance is lost breaks off', async () => {
  const { v0 } = instanceOf(lab, 'orders');
  const size = (await listBackups(lab)).at(-1)?.size ?? 0;
  lab.fault({
    path: '/backups/:id/download',
    effect: { kind: 'slow', bytesPerSecond: Math.ceil(size / 30) },
  });
  const token = await readFile(lab.tokenFile, 'utf8');
  const args = [
    '-sSL',
    '-o',
    '/dev/null',
    '-H',
    `Authorization: ${token}`,
    `${lab.url}${v0}/backups/1/download`,
  ];
  const download = run('curl', args);
  download.catch(() => undefined);
  await until('it is under way', async () => {
    const { json } = await curl(lab, 'GET', '/lab/faults');
    return JSON.stringify(json) === '{"faults":[]}' ? true : undefined;
  });
  await disaster('orders', true);
  await expect(download).rejects.toMatchObject({ code: 18 });
  await disaster('orders', false);
});

test('an instance that does not exist cannot be lost, and an empty body is refused', async () => {
  expect(await disaster('nowhere', true)).toMatchObject({
    status: 404,
    json: { error: 'instanceNotFound', description: expect.stringContaining('nowhere') },
  });
  for (const body of [undefined, {}, { lost: 'yes' }, { lost: true, for: '5m' }, []]) {
    const refused = await curl(lab, 'POST', '/lab/instances/orders/disaster', { body });
    expect(refused).toMatchObject({ status: 422, json: { error: 'invalidParameters' } });
  }
  expect((await curl(lab, 'GET', instanceOf(lab, 'orders').v1)).status).toBe(200);
});
