import { createServer } from 'node:http';
import { inspect } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import type { SendOutcome } from '../../src/service/client.ts';
import { answer, json, startFaultServer } from './fault-server.ts';
import { clientAt, serve, TOKEN_WORD } from './serve.ts';

const KEY = 'k-3b1f-very-secret-key';
function failureOf(outcome: SendOutcome<unknown>) {
  if (outcome.outcome === 'accepted') throw new Error('it should not have been accepted');
  return outcome.failure;
}

test('a key reaches the body of one PATCH and nothing else', async () => {
  const { client, server } = await serve((_, socket) => socket.write(json(200, { message: `set ${KEY}` })));
  const outcome = await client.changeBackupsConfig({ encryption_key: new Secret(KEY), min_backup_count: 3 });
  expect(outcome).toMatchObject({ outcome: 'accepted', status: 200, value: { message: 'set [secret]' } });
  const [request] = server.requests;
  expect(server.requests).toHaveLength(1);
  expect(request).toMatchObject({ method: 'PATCH', path: '/v1/instances/i1/backups-config' });
  expect(JSON.parse(request?.body ?? '')).toEqual({ encryption_key: KEY, min_backup_count: 3 });
  expect(request?.headers).toMatchObject({
    authorization: `bearer ${TOKEN_WORD}`,
    'content-type': 'application/json',
    connection: 'close',
  });
  expect(inspect(outcome, { depth: 20 })).not.toContain(KEY);
});

test('a key that the service echoes in a refusal is blanked, escaped or not', async () => {
  const odd = 'ke"y\\with/odd characters';
  const { client } = await serve((request, socket) =>
    socket.write(json(422, { error: 'invalid', description: `${odd} in ${request.body}` })),
  );
  const outcome = await client.changeBackupsConfig({ encryption_key: new Secret(odd) });
  expect(outcome.outcome).toBe('refused');
  expect(failureOf(outcome).shortMessage).toContain('"[secret] in {"encryption_key":"[secret]"}"');
  expect(inspect(outcome, { depth: 20 })).not.toContain('odd characters');
});

test('each call has a connection of its own', async () => {
  const { client, server } = await serve((_, socket) =>
    socket.write(json(200, { id: 7, message: 'queued' })),
  );
  const first = await client.createBackup();
  await client.createBackup();
  expect(first).toMatchObject({ outcome: 'accepted', value: { id: 7, message: 'queued' } });
  expect(server.requests.map((request) => `${request.method} ${request.path}`)).toEqual([
    'POST /v1/instances/i1/backups',
    'POST /v1/instances/i1/backups',
  ]);
  expect(server.connections()).toBe(2);
});

const ACCEPTED: readonly (readonly [string, string, number | undefined])[] = [
  ['a 201', json(201, { id: 4, message: 'm' }), 4],
  ['a 202 without a body', answer(202, ''), undefined],
  ['a 204', 'HTTP/1.1 204 No Content\r\n\r\n', undefined],
  ['a 200 with truncated JSON', answer(200, '{"id": 4'), undefined],
  ['a 200 with an id that is no safe integer', answer(200, '{"id": 9007199254740993}'), undefined],
  ['a 200 with an id in words', json(200, { id: 'four', message: 5 }), undefined],
  ['a 200 whose body breaks off', 'HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{"id"', undefined],
];
for (const [what, bytes, id] of ACCEPTED) {
  test(`${what} is accepted, with its readable parts`, async () => {
    const { client, server } = await serve((_, socket) => socket.end(bytes));
    expect(await client.createBackup()).toMatchObject({ outcome: 'accepted', value: { id } });
    expect(server.requests).toHaveLength(1);
  });
}

for (const status of [400, 401, 403, 404, 412, 422, 429]) {
  test(`a ${status} in the words of the service is a refusal`, async () => {
    const { client, server } = await serve((_, socket) => socket.write(json(status, { error: 'no' })));
    const outcome = await client.createBackup();
    expect(outcome.outcome).toBe('refused');
    expect(failureOf(outcome).evidence['status']).toBe(status);
    expect(server.requests).toHaveLength(1);
  });
}

test.each([401, 405, 407, 429])(
  'a %i is a refusal by any sender, since it comes before any work',
  async (status) => {
    const { client, server } = await serve((_, socket) => socket.end(answer(status, '<html>no</html>')));
    expect(await client.createBackup()).toMatchObject({ outcome: 'refused' });
    expect(server.requests).toHaveLength(1);
  },
);

const IN_DOUBT: readonly (readonly [string, string, string])[] = [
  ['a 409', json(409, { error: 'inProgress', description: 'a backup runs' }), 'service.conflict'],
  ['a 500', json(500, { error: 'unexpected' }), 'service.error'],
  ['a 502', answer(502, '<html>'), 'service.error'],
  ['a 503 that asks to come back', json(503, { error: 'x' }, { 'retry-after': '0' }), 'service.error'],
  ['a 504', answer(504, ''), 'service.error'],
  ['a 307', answer(307, '', { location: '/v1/instances/i1/backups?again' }), 'service.redirect'],
  ['a 303', answer(303, '', { location: '/login' }), 'service.redirect'],
  ['a 403 page of a proxy', answer(403, '<html>blocked</html>'), 'service.forbidden'],
  ['a 422 without a body', answer(422, ''), 'service.invalid'],
  [
    'a 404 whose body breaks off',
    'HTTP/1.1 404 No\r\ncontent-length: 90\r\n\r\n{"error"',
    'service.not-found',
  ],
  ['a login page with status 200', answer(200, '<!doctype html>'), 'service.bad-answer'],
  ['a 205', answer(205, ''), 'service.bad-answer'],
  ['nonsense', 'hello there\r\n\r\n', 'service.bad-answer'],
  ['a closed connection', '', 'service.reset'],
];
for (const [what, bytes, code] of IN_DOUBT) {
  test(`${what} leaves the call in doubt, and it is sent once`, async () => {
    const { client, server } = await serve((_, socket) => socket.end(bytes));
    const outcome = await client.createBackup();
    expect(outcome.outcome).toBe('unknown');
    expect(failureOf(outcome)).toMatchObject({
      code,
      hints: ['the service may have done it: lifeboat asks the service before it sends anything again'],
    });
    await server.quiet();
    expect(server.requests).toHaveLength(1);
    expect(server.connections()).toBe(1);
  });
}

test('a 502 and then a 200: a POST never sees the 200', async () => {
  let turn = 0;
  const { client, server } = await serve((_, socket) => {
    turn += 1;
    socket.write(turn === 1 ? answer(502, '') : json(200, { id: 1 }));
  });
  expect((await client.createBackup()).outcome).toBe('unknown');
  expect(server.requests).toHaveLength(1);
});

test('a reset after the request is in doubt', async () => {
  const { client, server } = await serve((_, socket) => socket.resetAndDestroy());
  const outcome = await client.createBackup();
  expect(outcome.outcome).toBe('unknown');
  expect(failureOf(outcome).code).toBe('service.reset');
  expect(server.requests).toHaveLength(1);
});

test('a call without an answer until the deadline is in doubt', async () => {
  const { client, server } = await serve(() => undefined, { limits: { sendMs: 150 } });
  const outcome = await client.createBackup();
  expect(outcome).toMatchObject({ outcome: 'unknown', failure: { code: 'service.timeout' } });
  await server.quiet();
  expect(server.requests).toHaveLength(1);
});

test('stopped after the request was sent, a call is in doubt; stopped before, it was never sent', async () => {
  const stop = new AbortController();
  const { client, server } = await serve(() => stop.abort());
  const first = await client.createBackup({ signal: stop.signal, mayLeave: () => undefined });
  expect(first).toMatchObject({ outcome: 'unknown', failure: { code: 'service.stopped' } });
  const second = await client.createBackup({ signal: stop.signal, mayLeave: () => undefined });
  expect(second).toMatchObject({ outcome: 'never-sent', failure: { code: 'service.stopped' } });
  expect(server.requests).toHaveLength(1);
});

test('a refused connection was never sent', async () => {
  const server = await startFaultServer(() => undefined);
  await server.close();
  const client = clientAt(server.origin);
  expect(await client.createBackup()).toMatchObject({
    outcome: 'never-sent',
    failure: {
      code: 'service.unreachable',
      hints: expect.arrayContaining(['nothing was sent: it is safe to try again']),
    },
  });
});

test('a service that is not listening yet is retried until it does, and is sent to once', async () => {
  const before = await startFaultServer(() => undefined);
  await before.close();
  const requests: string[] = [];
  const late = createServer((request, response) => {
    requests.push(request.method ?? '');
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":7}');
  });
  onTestFinished(() => void late.close());
  let calls = 0;
  const tap = () => {
    calls += 1;
    // Nothing listened before; now something does.
    if (calls === 1) late.listen(Number(new URL(before.origin).port), '127.0.0.1');
  };
  const client = clientAt(before.origin, { tap, limits: { retryBaseMs: 100 } });
  expect(await client.createBackup()).toMatchObject({ outcome: 'accepted', value: { id: 7 } });
  expect(calls).toBeGreaterThan(1);
  expect(requests).toEqual(['POST']);
});

test('a service that is stopped during the retries was never sent anything', async () => {
  const server = await startFaultServer(() => undefined);
  await server.close();
  const stop = new AbortController();
  const tap = () => stop.abort();
  const client = clientAt(server.origin, { tap, limits: { retryBaseMs: 60_000 } });
  expect(await client.createBackup({ signal: stop.signal, mayLeave: () => undefined })).toMatchObject({
    outcome: 'never-sent',
    failure: { code: 'service.stopped' },
  });
});

test('after a repeatable change, silence is awaited for a shorter time than after any other', async () => {
  const limits = { sendMs: 60_000, repeatableSendMs: 500 };
  const { client } = await serve(() => undefined, { limits, revision: 61 });
  const lost = { outcome: 'unknown', failure: { code: 'service.timeout' } };
  expect(await client.prepareRecovery()).toMatchObject(lost);
  expect(await client.changeUpdateSetting({ type: 'general', allowed: false })).toMatchObject(lost);
});

test('a name that does not resolve was never sent', async () => {
  const client = clientAt('http://no-such-host.invalid');
  expect(await client.createBackup()).toMatchObject({
    outcome: 'never-sent',
    failure: { code: 'service.unreachable' },
  });
});

test('a TLS handshake that fails was never sent', async () => {
  const server = await startFaultServer(() => undefined);
  onTestFinished(server.close);
  const client = clientAt(server.origin.replace('http:', 'https:'), { limits: { connectMs: 500 } });
  // The peer speaks no TLS and sends nothing: the handshake ends with the connect timeout.
  expect(await client.createBackup()).toMatchObject({
    outcome: 'never-sent',
    failure: { code: 'service.unreachable' },
  });
  expect(server.requests).toHaveLength(0);
});

test('without a token nothing is sent', async () => {
  const { client, server } = await serve(() => undefined, { token: () => Promise.reject(new Error('gone')) });
  expect((await client.createBackup()).outcome).toBe('never-sent');
  expect(server.connections()).toBe(0);
});

test('a mutating call reads the token again and is not repeated after a 401', async () => {
  const tokens = ['one', 'two', 'three'].map((word) => new Secret(`bearer ${word}`));
  const { client, server } = await serve(
    (_, socket) => socket.write(json(401, { error: 'expired', description: 'log in' })),
    { token: async () => tokens.shift() ?? new Secret('bearer last') },
  );
  expect((await client.createBackup()).outcome).toBe('refused');
  expect((await client.createBackup()).outcome).toBe('refused');
  expect(server.requests.map((request) => request.headers['authorization'])).toEqual([
    'bearer one',
    'bearer two',
  ]);
});

test('a listener that throws does not change how a call ends', async () => {
  const { client } = await serve((_, socket) => socket.write(json(200, { id: 1 })), {
    tap: () => {
      throw new Error('listener');
    },
  });
  expect((await client.createBackup()).outcome).toBe('accepted');
});
