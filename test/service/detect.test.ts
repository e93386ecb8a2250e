import { expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { addressFrom } from '../../src/service/address.ts';
import { detectRevision } from '../../src/service/detect.ts';
import { answer, json, type Respond, startFaultServer } from './fault-server.ts';
import { rejection } from './serve.ts';

const V1 = '/v1/instances/i1/backups';
const V0 = '/service-instances/i1/backups';
const PAGE = answer(200, '<!doctype html>', { 'content-type': 'text/html' });
const NO_ROUTE = answer(404, '404 page not found', { 'content-type': 'text/plain' });
const LIST = json(200, [
  { id: 2, status: 'done', backup_id: 'g-1', started_at: 'x' },
  { id: 1, status: 'deleted', backup_id: 'g-0' },
]);
const BARE = json(200, { id: 2, status: 'done', started_at: '2021-04-21T01:30:04.832Z' });
const NAMED = json(200, { id: 2, status: 'done', backup_id: 'g-1' });
const REFUSED = json(412, { message: 'no such backup', status: 412 });
const LISTING = json(200, { id: 85, instance_id: 'i1', backups: [], restores: [] });

async function detect(respond: Respond) {
  const server = await startFaultServer(respond);
  onTestFinished(server.close);
  const found = detectRevision(addressFrom(`${server.origin}/service-instances/i1`), {
    token: async () => new Secret('bearer t'),
    limits: { retryBaseMs: 1 },
  });
  return { server, found };
}

/** Answers by path; other paths have no route. */
const byPath =
  (answers: Readonly<Record<string, string>>): Respond =>
  (request, socket) =>
    socket.write(request.method === 'GET' ? (answers[request.path] ?? NO_ROUTE) : answer(405, ''));

const SERVERS: readonly (readonly [string, Readonly<Record<string, string>>, unknown, boolean])[] = [
  [
    'a V1 download and a named single backup',
    { [V1]: LIST, [`${V1}/2`]: NAMED, [`${V1}/0/download`]: REFUSED },
    61,
    true,
  ],
  ['a V1 download, no backup yet', { [V1]: json(200, []), [`${V1}/0/download`]: REFUSED }, 61, true],
  [
    'a named single backup while the download fails',
    { [V1]: LIST, [`${V1}/2`]: NAMED, [`${V1}/0/download`]: answer(500, '') },
    61,
    true,
  ],
  ['a named single backup and no V1 download', { [V1]: LIST, [`${V1}/2`]: NAMED }, 61, false],
  ['a single backup without a name and no V1 download', { [V1]: LIST, [`${V1}/2`]: BARE }, 62, true],
  [
    'no backup and no V1 download',
    { [V1]: json(200, []), [`${V1}/0/download`]: json(404, { error: 'notFound' }) },
    62,
    true,
  ],
  [
    'a V1 download that is out of order',
    { [V1]: LIST, [`${V1}/2`]: BARE, [`${V1}/0/download`]: json(500, { error: 'x' }) },
    62,
    false,
  ],
  [
    'a 412 that is not of the service',
    { [V1]: json(200, []), [`${V1}/0/download`]: answer(412, '') },
    62,
    false,
  ],
  ['pages where the download would be', { [V1]: json(200, []), [`${V1}/0/download`]: PAGE }, 62, false],
  ['V0 alone', { [V0]: LISTING }, 'v0', true],
  ['V0, and pages elsewhere', { [V1]: PAGE, [V0]: LISTING }, 'v0', true],
  [
    'V0, and a redirect to a login elsewhere',
    { [V1]: answer(302, '', { location: 'https://login.example.com' }), [V0]: LISTING },
    'v0',
    true,
  ],
  ['V1 out of order beside V0', { [V1]: answer(500, ''), [V0]: LISTING }, 62, false],
  ['V1 with another shape beside V0', { [V1]: json(200, {}), [V0]: LISTING }, 62, false],
  ['nothing of the service', {}, 62, false],
  ['pages only', { [V1]: PAGE, [V0]: PAGE }, 62, false],
];
for (const [what, answers, revision, certain] of SERVERS) {
  test(`${what}: ${certain ? '' : 'perhaps '}revision ${revision}`, async () => {
    const { server, found } = await detect(byPath(answers));
    const detection = await found;
    expect(detection).toEqual({ revision, certain, because: expect.stringMatching(/^[A-Za-z].+[^.]$/u) });
    expect(server.requests.every(({ method }) => method === 'GET')).toBe(true);
  });
}

test('nothing is guessed without rights', async () => {
  for (const [status, code] of [
    [401, 'credentials.refused'],
    [403, 'service.forbidden'],
  ] as const) {
    const denied = json(status, { error: 'no', description: 'no' });
    expect(await rejection((await detect(byPath({ [V1]: denied }))).found)).toMatchObject({ code });
    expect(await rejection((await detect(byPath({ [V0]: denied }))).found)).toMatchObject({ code });
  }
});

test('nothing is guessed without an answer', async () => {
  const { found } = await detect((_, socket) => socket.destroy());
  expect(await rejection(found)).toMatchObject({ code: 'service.reset' });
});
