import { expect, test } from 'vitest';
import type { PlainReads, ServiceClient } from '../../src/service/client.ts';
import { limitsOf, type Operation } from '../../src/service/revisions.ts';
import { PLAIN_READS } from '../../src/service/schemas.ts';
import { answer, json, type Respond, type WireRequest } from './fault-server.ts';
import { rejection, serve } from './serve.ts';

const LIST = '/service-instances/i1/backups';
const EARLY = '2017-06-29T00:30:03.857Z';
const LATE = '2017-06-29T00:31:00.000Z';

const task = (status: string, created = EARLY, updated = LATE) => ({
  id: 2901,
  task_id: 2811,
  status,
  created_at: created,
  updated_at: updated,
});

const LISTING = {
  id: 85,
  instance_id: 'f131e47d-0000-4000-8000-000000000000',
  backups: [
    { id: 2811, instance_id: 85, backup_agent_task: task('done') },
    { id: 2812, instance_id: 85, backup_agent_task: task('running') },
    { id: 2813, instance_id: 85, backup_agent_task: null },
  ],
  restores: [
    { id: 5, instance_id: 85, backup_agent_tasks: [task('done', LATE, LATE), task('done', EARLY, EARLY)] },
    { id: 6, instance_id: 85, backup_agent_tasks: [] },
  ],
};

const asked = ({ method, path }: WireRequest) => `${method} ${path}`;

/** A V0 that lists and answers a POST as given. */
function serveV0(post: string, list: unknown = LISTING) {
  const respond: Respond = (request, socket) => socket.end(request.method === 'GET' ? json(200, list) : post);
  return serve(respond, { revision: 'v0' });
}

test('the one listing of V0 gives backups and restores in V1 form', async () => {
  const { client, server } = await serveV0('');
  expect((await client.backups()).value).toEqual([
    expect.objectContaining({ id: 2811, status: 'done', triggered_at: EARLY, finished_at: LATE }),
    expect.objectContaining({ id: 2812, status: 'running', triggered_at: EARLY, finished_at: undefined }),
    expect.objectContaining({ id: 2813, status: 'unknown', triggered_at: undefined }),
  ]);
  expect((await client.restores()).value).toEqual([
    expect.objectContaining({ id: 5, status: 'done', triggered_at: EARLY, finished_at: LATE }),
    expect.objectContaining({ id: 6, status: 'unknown' }),
  ]);
  expect((await client.backup(2812)).value).toMatchObject({ id: 2812, status: 'running' });
  expect((await client.restore(5)).value).toMatchObject({ id: 5, status: 'done' });
  expect(await rejection(client.backup(99))).toMatchObject({ code: 'service.not-found' });
  expect(await rejection(client.restore(99))).toMatchObject({ code: 'service.not-found' });
  expect(new Set(server.requests.map(asked))).toEqual(new Set([`GET ${LIST}`]));
});

const TOGETHER: readonly (readonly [readonly string[], string])[] = [
  [['done', 'done'], 'done'],
  [['done', 'failed'], 'failed'],
  [['failed', 'running'], 'running'],
  [['done', 'queued'], 'running'],
  [['queued', 'queued'], 'queued'],
  [['queued', 'running'], 'running'],
  [['done', 'deleted'], 'deleted'],
  [['done', 'paused'], 'running'],
  [['paused'], 'paused'],
];
for (const [statuses, whole] of TOGETHER) {
  test(`a restore whose tasks are ${statuses.join(' and ')} is ${whole}`, async () => {
    const restore = { id: 1, instance_id: 85, backup_agent_tasks: statuses.map((status) => task(status)) };
    const { client } = await serveV0('', { ...LISTING, restores: [restore] });
    const { value } = await client.restore(1);
    expect(value.status).toBe(whole);
    expect(value.finished_at).toBe(['done', 'failed', 'deleted'].includes(whole) ? LATE : undefined);
  });
}

test('a listing without its lists does not count as an empty one', async () => {
  const { client } = await serveV0('', { id: 85, instance_id: 'x' });
  expect(await rejection(client.backups())).toMatchObject({ code: 'service.bad-answer' });
});

test('a backup is created with a 201 and a restore names the internal ids of the listing', async () => {
  const created = await serveV0(json(201, { id: 2814, message: 'scheduled' }));
  expect(await created.client.createBackup()).toMatchObject({
    outcome: 'accepted',
    status: 201,
    value: { id: 2814, message: 'scheduled' },
  });
  expect(created.server.requests.map(asked)).toEqual([`GET ${LIST}`, `POST ${LIST}`]);
  expect(created.server.requests[1]?.body).toBe('');

  const restored = await serveV0(json(200, { restore_id: 7 }));
  expect(await restored.client.restoreBackup(2811)).toMatchObject({ outcome: 'accepted', value: { id: 7 } });
  expect(restored.server.requests.map(asked)).toEqual([`GET ${LIST}`, `POST ${LIST}/restore`]);
  expect(JSON.parse(restored.server.requests[1]?.body ?? '')).toEqual({ instance_id: 85, backup_id: 2811 });
});

test('a backup that the service does not list is not restored: nothing is sent', async () => {
  const { client, server } = await serveV0('');
  expect(await client.restoreBackup(99)).toMatchObject({
    outcome: 'never-sent',
    failure: { code: 'service.not-found' },
  });
  expect(server.requests.map(asked)).toEqual([`GET ${LIST}`]);
});

test('if the listing cannot be read, nothing is sent', async () => {
  for (const [bytes, code] of [
    [json(404, { msg: 'gone' }), 'service.not-found'],
    [answer(200, '<html>log in</html>'), 'service.bad-answer'],
    [answer(302, '', { location: 'https://login.example.com/' }), 'service.redirect'],
    [json(401, { msg: 'who?' }), 'credentials.refused'],
  ] as const) {
    const { client, server } = await serve((_, socket) => socket.end(bytes), { revision: 'v0' });
    for (const outcome of [await client.createBackup(), await client.restoreBackup(2811)]) {
      expect(outcome).toMatchObject({ outcome: 'never-sent', failure: { code } });
    }
    expect(server.requests.every(({ method }) => method === 'GET')).toBe(true);
  }
});

test('a session is opened before anything is changed, and its cookies are sent with the change', async () => {
  const { client, server } = await serve(
    (request, socket) => {
      const session = request.headers['cookie'] ?? '';
      if (request.path === '/login') {
        const location = 'set-cookie: session=s1; Path=/; HttpOnly\r\nset-cookie: csrf=c1; Path=/\r\n';
        socket.write(`HTTP/1.1 302 Found\r\nlocation: ${LIST}\r\n${location}content-length: 0\r\n\r\n`);
      } else if (!/session=s\d/u.test(session)) socket.write(answer(302, '', { location: '/login' }));
      else if (request.method === 'GET') socket.write(json(200, LISTING));
      else socket.end(json(201, { id: 1 }, { 'set-cookie': 'session=s2; Path=/' }));
    },
    { revision: 'v0' },
  );
  expect(await client.createBackup()).toMatchObject({ outcome: 'accepted', value: { id: 1 } });
  expect(server.requests.map(asked)).toEqual([`GET ${LIST}`, 'GET /login', `GET ${LIST}`, `POST ${LIST}`]);
  expect(server.requests.at(-1)?.headers['cookie']).toBe('session=s1; csrf=c1');
  await client.createBackup();
  expect(server.requests.at(-1)?.headers['cookie']).toBe('session=s2; csrf=c1');
});

const ENDS: readonly (readonly [string, string, string, string])[] = [
  ['a redirect', answer(302, '', { location: '/login' }), 'unknown', 'service.redirect'],
  ['a login page', answer(200, '<html>'), 'unknown', 'service.bad-answer'],
  ['a 412', json(412, { msg: 'no match' }), 'refused', 'service.precondition'],
  ['a 412 of nobody', answer(412, ''), 'unknown', 'service.precondition'],
  ['a 502', answer(502, ''), 'unknown', 'service.error'],
  ['a broken connection', '', 'unknown', 'service.reset'],
];
for (const [what, bytes, outcome, code] of ENDS) {
  test(`${what} leaves a change of V0 ${outcome}, and it is sent once`, async () => {
    const { client, server } = await serveV0(bytes);
    expect(await client.createBackup()).toMatchObject({ outcome, failure: { code } });
    expect(await client.restoreBackup(2811)).toMatchObject({ outcome, failure: { code } });
    expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(2);
  });
}

test('V0 reports its limits, which follow from the calls that it lacks; V1 has none', () => {
  expect(limitsOf('v0')).toEqual({
    name: 'V0',
    deprecation: expect.stringMatching(
      /^V0 is deprecated and will be discontinued in a future release; use V1/,
    ),
    unsaid: [
      'the name, state, service, plan and updates of the instance',
      'the retention of backups and the minimum length of a key',
      'the size of a backup',
      'which backup a restore brings back',
    ],
  });
  expect([limitsOf(61), limitsOf(62)]).toEqual([undefined, undefined]);
});

test('an undocumented success of V0 stays a success', async () => {
  for (const bytes of [answer(201, ''), answer(201, '{"id'), json(200, { id: 'x' })]) {
    const { client } = await serveV0(bytes);
    expect(await client.createBackup()).toMatchObject({ outcome: 'accepted', value: { id: undefined } });
  }
});

const LACKING: readonly (readonly [Operation, (client: ServiceClient) => Promise<unknown>])[] = [
  ...(Object.keys(PLAIN_READS) as (keyof PlainReads)[]).map(
    (name) => [name, (client: ServiceClient) => client[name]()] as const,
  ),
  ['metrics', (client) => client.metrics()],
];
for (const [operation, read] of LACKING) {
  test(`V0 has no ${operation}: nothing is sent, and the hint names the revisions that do`, async () => {
    const { client, server } = await serveV0('');
    expect(client.supports(operation)).toBe(false);
    expect(await rejection(read(client))).toMatchObject({
      code: 'service.unsupported',
      exitCode: 2,
      hints: expect.arrayContaining(['revision 61 and revision 62 can', 'nothing was sent']),
    });
    expect(server.connections()).toBe(0);
  });
}
