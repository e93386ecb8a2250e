import { expect, test } from 'vitest';
import type { ServiceClient } from '../../src/service/client.ts';
import { PARACHUTE, parachuteDisks } from '../../src/service/metrics.ts';
import type { Operation } from '../../src/service/revisions.ts';
import { json } from './fault-server.ts';
import { rejection, serve } from './serve.ts';

const READS: readonly (readonly [Operation, string, unknown, (client: ServiceClient) => Promise<unknown>])[] =
  [
    ['overview', '', { id: 1, state: 'available' }, (client) => client.overview()],
    ['backups', '/backups', [{ id: 3, status: 'done' }], (client) => client.backups()],
    ['backup', '/backups/3', { id: 3, status: 'done' }, (client) => client.backup(3)],
    ['restores', '/restores', [{ id: 2, backup_id: 3, status: 'queued' }], (client) => client.restores()],
    [
      'restore',
      '/restores/2',
      { id: 2, status: 'done', metadata: { restored_from: '2021-04-21T15:32:10.332Z' } },
      (client) => client.restore(2),
    ],
    ['backupsConfig', '/backups-config', { min_backup_count: 0 }, (client) => client.backupsConfig()],
    [
      'pitrRange',
      '/pitr',
      { start_time: '2022-02-01T20:53:20.000Z', end_time: '2022-02-02T11:45:37.601Z' },
      (client) => client.pitrRange(),
    ],
  ];
for (const [operation, path, value, read] of READS) {
  test(`${operation} reads ${path === '' ? 'the instance' : path}, with a 200 or a 202`, async () => {
    for (const [revision, status] of [
      [61, 200],
      [61, 202],
      [62, 200],
      [62, 202],
    ] as const) {
      const { client, server } = await serve((_, socket) => socket.write(json(status, value)), { revision });
      expect(client.supports(operation)).toBe(true);
      expect(await read(client)).toMatchObject({ status, value });
      expect(server.requests).toMatchObject([{ method: 'GET', path: `/v1/instances/i1${path}` }]);
    }
  });
}

test.for(['backup', 'restore'] as const)(
  'an answer about another %s than the requested one is rejected, in every revision that has the call',
  async (what) => {
    for (const revision of [61, 62] as const) {
      const { client } = await serve((_, socket) => socket.write(json(200, { id: 3, status: 'done' })), {
        revision,
      });
      expect(await rejection(client[what](4))).toMatchObject({
        code: 'service.bad-answer',
        shortMessage: `${what} 4 was asked for, and the answer is about ${what} 3`,
      });
    }
  },
);

test('without continuous archiving there is no range of points in time', async () => {
  const { client } = await serve((_, socket) => socket.write(json(404, { error: 'notFound' })));
  expect(await rejection(client.pitrRange())).toMatchObject({ code: 'service.not-found' });
});

test('metrics are requested by number, which must be a whole number from 1', async () => {
  const { client, server } = await serve((_, socket) =>
    socket.write(json(200, ['pg.0.system.load.load1 1.5e-1 1700000000', 7, null, 'nonsense'])),
  );
  expect((await client.metrics()).value).toEqual([
    { path: 'pg.0.system.load.load1', value: 0.15, atMs: 1_700_000_000_000 },
  ]);
  await client.metrics({ quantity: 5 });
  for (const quantity of [0, -1, 1.5, Number.NaN, 2 ** 60]) {
    expect(await rejection(client.metrics({ quantity }))).toMatchObject({
      code: 'service.invalid',
      exitCode: 2,
    });
  }
  expect(server.requests.map((request) => request.path)).toEqual([
    '/v1/instances/i1/metrics',
    '/v1/instances/i1/metrics?quantity=5',
  ]);
});

test('of metrics, those with a text in their line can be asked for alone', async () => {
  const lines = [
    'pg.0.system.load.load1 1 1700000000',
    'pg.0.parachute.disk.persistent.activated 0 1700000000',
  ];
  const { client } = await serve((_, socket) => socket.write(json(200, [...lines, 7])));
  const { value } = await client.metrics({ containing: PARACHUTE });
  expect(parachuteDisks(value)).toMatchObject([{ disk: 'persistent', activated: false }]);
  expect(value).toHaveLength(1);
});

test('too many metrics can be requested by number', async () => {
  const lines = ['pg.0.system.load.load1 1 1700000000', 'pg.0.system.load.load1 2 1700000060'];
  const { client } = await serve(
    (request, socket) => socket.write(json(200, request.path.includes('=1') ? lines.slice(-1) : lines)),
    { limits: { jsonBytes: 60 } },
  );
  expect(await rejection(client.metrics())).toMatchObject({
    code: 'service.too-large',
    hints: ['ask for a number of metrics: only the latest are then sent'],
  });
  expect((await client.metrics({ quantity: 1 })).value).toHaveLength(1);
});
