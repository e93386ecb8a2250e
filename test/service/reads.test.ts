import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import type { LifeboatError } from '../../src/base/errors.ts';
import type { HttpExchange } from '../../src/base/http-exchange.ts';
import { transportError } from '../../src/service/failures.ts';
import { answer, json, startFaultServer } from './fault-server.ts';
import { clientAt, rejection, serve, TOKEN_WORD } from './serve.ts';

const BACKUP = {
  id: 3,
  size: 10,
  status: 'done',
  triggered_at: '2021-04-21T01:30:03.832Z',
  downloadable: true,
};

test('unknown fields are kept, unknown statuses shown, and missing ones are not an error', async () => {
  const { client, server } = await serve((_, socket) => {
    const date = 'Wed, 21 Apr 2021 01:30:05 GMT';
    socket.write(json(200, [{ ...BACKUP, status: 'paused', colour: 'red', backup_id: null }], { date }));
  });
  const { value, status, skew } = await client.backups();
  expect(value).toEqual([{ ...BACKUP, status: 'paused', colour: 'red' }]);
  expect(status).toBe(200);
  // The server says 2021-04-21T01:30:05Z: that long ago by the clock here.
  const ago = Date.now() - Date.parse('2021-04-21T01:30:05Z');
  expect(Math.abs((skew?.skewMs ?? 0) + ago)).toBeLessThan((skew?.uncertaintyMs ?? 0) + 5_000);
  expect(server.requests[0]).toMatchObject({
    method: 'GET',
    path: '/v1/instances/i1/backups',
    headers: { authorization: `bearer ${TOKEN_WORD}` },
  });
});

test('a negative size of a backup is unknown, and a size of 0 is 0', async () => {
  const { client } = await serve((_, socket) =>
    socket.write(
      json(200, [
        { ...BACKUP, size: -1 },
        { ...BACKUP, size: 0 },
      ]),
    ),
  );
  expect((await client.backups()).value.map(({ size }) => size)).toEqual([undefined, 0]);
});

test('every read requests its own path', async () => {
  const { client, server } = await serve((_, socket) => socket.write(json(200, BACKUP)));
  await client.overview();
  await client.backup(3);
  await client.backupsConfig();
  expect(server.requests.map((request) => request.path)).toEqual([
    '/v1/instances/i1',
    '/v1/instances/i1/backups/3',
    '/v1/instances/i1/backups-config',
  ]);
});

const BAD_BODIES: readonly (readonly [string, string, string])[] = [
  [
    'a web page',
    answer(200, '<!doctype html><h1>Log in</h1>', { 'content-type': 'text/html' }),
    'a web page',
  ],
  ['an empty answer', answer(200, ''), 'is empty'],
  ['a 204', 'HTTP/1.1 204 No Content\r\n\r\n', 'is empty'],
  ['truncated JSON', answer(200, '[{"id": 1, "sta'), 'not JSON, or is cut off'],
  ['bytes that are not UTF-8', answer(200, 'xx').replace('xx', '\xff\xfe'), 'not JSON'],
  ['an object in place of a list', json(200, {}), 'has an unexpected shape'],
  ['an id that is no safe integer', answer(200, '[{"id": 9007199254740993, "status": "done"}]'), '(at 0.id)'],
];
for (const [what, bytes, words] of BAD_BODIES) {
  test(`${what} is a bad answer, with a clear error`, async () => {
    const { client, server } = await serve((_, socket) => socket.write(bytes, 'latin1'));
    const error = (await rejection(client.backups())) as LifeboatError;
    expect(error).toMatchObject({ code: 'service.bad-answer', shortMessage: expect.stringContaining(words) });
    expect(server.requests).toHaveLength(1);
  });
}

test('an endless JSON answer is cut at the cap and the connection with it', async () => {
  let written = 0;
  const { client, server } = await serve((_, socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n[1');
    const more = Buffer.from(',1'.repeat(32 * 1024));
    const pump = () => {
      while (!socket.destroyed && written < 300 * 1024 * 1024) {
        written += more.length;
        if (!socket.write(more)) return;
      }
    };
    socket.on('drain', pump);
    pump();
  });
  expect(await rejection(client.backups())).toMatchObject({ code: 'service.too-large' });
  await server.quiet();
  expect(written).toBeLessThan(32 * 1024 * 1024);
  expect(server.requests).toHaveLength(1);
});

test('an endless error body does not hide its status', async () => {
  const { client } = await serve((_, socket) => {
    socket.write('HTTP/1.1 404 Not Found\r\ncontent-length: 99999999\r\n\r\n');
    socket.write('x'.repeat(200 * 1024));
  });
  expect(await rejection(client.backups())).toMatchObject({
    code: 'service.not-found',
    shortMessage: 'the service does not know this (404)',
  });
});

const STATUSES: readonly (readonly [number, unknown, string, string])[] = [
  [400, { error: 'badThing', description: 'no' }, 'service.invalid', ': "no"'],
  [401, { error: 'unauthorized', description: 'who?' }, 'credentials.refused', ': "who?"'],
  [403, { error: 'forbidden' }, 'service.forbidden', ': "forbidden"'],
  [404, { msg: 'v0 says no' }, 'service.not-found', ': "v0 says no"'],
  [409, { error: 'inProgress', description: 'busy' }, 'service.conflict', ': "busy"'],
  [412, { message: 'no such backup', status: 412 }, 'service.precondition', ': "no such backup"'],
  [422, { error: 'invalid', description: '' }, 'service.invalid', '(422)'],
  [418, 'tea', 'service.invalid', '(418)'],
  [501, {}, 'service.error', '(501)'],
];
for (const [status, body, code, words] of STATUSES) {
  test(`a ${status} is ${code} with the words of the service`, async () => {
    const { client } = await serve((_, socket) => socket.write(json(status, body)));
    const error = (await rejection(client.backups())) as LifeboatError;
    expect(error.code).toBe(code);
    expect(error.shortMessage).toContain(words);
    expect(error.evidence['status']).toBe(status);
  });
}

test('a hostile description stays raw as evidence and is harmless in the message', async () => {
  const hostile = '\u001b]8;;http://evil\u0007click\u001b[31m \u202e\u009b2J';
  const { client } = await serve((_, socket) =>
    socket.write(json(404, { error: 'x', description: hostile })),
  );
  const error = (await rejection(client.backups())) as LifeboatError;
  expect(error.shortMessage).toContain('\ufffd]8;;http://evil\ufffdclick\ufffd[31m');
  expect(error.shortMessage).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/u);
  expect(error.evidence['text']).toBe(hostile);
});

test('a lone surrogate is replaced, so that every text can be stored', async () => {
  let status = 200;
  const { client } = await serve((_, socket) =>
    socket.write(
      answer(
        status,
        status === 200 ? '{"id":1,"status":"a\\ud800"}' : '{"error":"x","description":"b\\udfff"}',
      ),
    ),
  );
  expect((await client.backup(1)).value.status).toBe('a\ufffd');
  status = 404;
  expect(((await rejection(client.backup(1))) as LifeboatError).evidence['text']).toBe('b\ufffd');
});

test('a token that the service echoes appears in no error', async () => {
  const { client } = await serve((request, socket) =>
    socket.write(
      json(403, { error: 'no', description: `bad ${request.headers['authorization']}; ${TOKEN_WORD}` }),
    ),
  );
  const error = (await rejection(client.backups())) as LifeboatError;
  expect(error.shortMessage).toContain('"bad [secret]; [secret]"');
  expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(TOKEN_WORD);
  expect(JSON.stringify(error.toFailure())).not.toContain(TOKEN_WORD);
});

test('a token in bytes that are not HTTP appears in no error', async () => {
  const { client } = await serve((_, socket) => socket.end(`${TOKEN_WORD} is not HTTP\r\n\r\n`));
  const error = (await rejection(client.backups())) as LifeboatError;
  expect(error.code).toBe('service.bad-answer');
  expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(TOKEN_WORD);
});

test('a 502 is retried, and every attempt is recorded', async () => {
  const heard: HttpExchange[] = [];
  let turn = 0;
  const { client, server } = await serve(
    (_, socket) => {
      turn += 1;
      socket.write(
        turn < 3 ? answer(502, '<html>bad gateway</html>') : json(200, [], { 'x-request-id': 'r-7' }),
      );
    },
    { tap: (exchange) => heard.push(exchange) },
  );
  await expect(client.backups()).resolves.toMatchObject({ value: [] });
  expect(server.requests).toHaveLength(3);
  const url = `${server.origin}/v1/instances/i1/backups`;
  expect(heard.map((one) => [one.method, one.url, one.status, one.answerHeaders['x-request-id']])).toEqual([
    ['GET', url, 502, undefined],
    ['GET', url, 502, undefined],
    ['GET', url, 200, 'r-7'],
  ]);
  expect(inspect(heard, { depth: 20 })).not.toContain(TOKEN_WORD);
});

test('a persistent 502 is an error after four attempts', async () => {
  const { client, server } = await serve((_, socket) => socket.write(answer(502, 'x'.repeat(100_000))));
  expect(await rejection(client.backups())).toMatchObject({
    code: 'service.error',
    evidence: { status: 502 },
  });
  expect(server.requests).toHaveLength(4);
});

test('a connection that breaks before or inside an answer is retried', async () => {
  let turn = 0;
  const { client, server } = await serve((_, socket) => {
    turn += 1;
    if (turn === 1) socket.destroy();
    else if (turn === 2) socket.resetAndDestroy();
    else if (turn === 3) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n[{"id"');
    else socket.write(json(200, [BACKUP]));
  });
  await expect(client.backups()).resolves.toMatchObject({ value: [BACKUP] });
  expect(server.requests).toHaveLength(4);
  expect(server.requests.every((request) => request.headers['range'] === undefined)).toBe(true);
});

test('a connection that always breaks is a reset', async () => {
  const { client } = await serve((_, socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n['));
  expect(await rejection(client.backups())).toMatchObject({ code: 'service.reset' });
});

test('a short Retry-After is waited for', async () => {
  let turn = 0;
  const begun = Date.now();
  const { client } = await serve((_, socket) => {
    turn += 1;
    socket.write(turn === 1 ? json(429, { error: 'busy' }, { 'retry-after': '1' }) : json(200, []));
  });
  await client.backups();
  expect(Date.now() - begun).toBeGreaterThanOrEqual(990);
});

test('an excessive Retry-After is reported to the caller at once', async () => {
  const { client, server } = await serve((_, socket) =>
    socket.write(json(503, { error: 'down' }, { 'retry-after': '3600' })),
  );
  expect(await rejection(client.backups())).toMatchObject({
    code: 'service.error',
    evidence: { retryAfter: '3600' },
  });
  expect(server.requests).toHaveLength(1);
});

test('missing headers are requested once more, and then are a timeout', async () => {
  const { client, server } = await serve(() => undefined, { limits: { headersMs: 100 } });
  expect(await rejection(client.backups())).toMatchObject({ code: 'service.timeout' });
  expect(server.requests).toHaveLength(2);
});

test.each(['', 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n['])(
  'after a connection has gone silent, at "%s", a new one is used',
  async (begun) => {
    let turn = 0;
    const { client } = await serve(
      (_, socket) => {
        turn += 1;
        socket.write(turn === 1 ? begun : json(200, []));
      },
      { limits: { headersMs: 100, bodyMs: 100 } },
    );
    expect((await client.backups()).value).toEqual([]);
  },
);

test('a download that does not begin is not requested again', async () => {
  const { client, server } = await serve(() => undefined, { limits: { downloadHeadersMs: 100 } });
  expect(await rejection(client.download(7))).toMatchObject({ code: 'service.timeout' });
  expect(server.requests).toHaveLength(1);
});

test('an answer that trickles forever ends at the deadline of the read', async () => {
  const { client } = await serve(
    (_, socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n[1');
      const drip = setInterval(() => socket.write(','), 20);
      socket.on('close', () => clearInterval(drip));
    },
    { limits: { readMs: 200 } },
  );
  expect(await rejection(client.backups())).toMatchObject({
    code: 'service.timeout',
    shortMessage: 'the service did not answer within 0.2 s',
  });
});

test('the signal of the caller and close() stop a read', async () => {
  const stop = new AbortController();
  const { client } = await serve(() => stop.abort());
  expect(await rejection(client.backups(stop.signal))).toMatchObject({ code: 'service.stopped' });
  expect(await rejection(client.backups(stop.signal))).toMatchObject({ code: 'service.stopped' });
  await client.close();
  expect(await rejection(client.backups())).toMatchObject({ code: 'service.stopped' });
});

test('a server that does not exist is unreachable', async () => {
  const server = await startFaultServer(() => undefined);
  await server.close();
  const client = clientAt(server.origin);
  expect(await rejection(client.backups())).toMatchObject({
    code: 'service.unreachable',
    shortMessage: 'the service refuses the connection (ECONNREFUSED)',
  });
});

test.for(['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT'])(
  'a server that stays silent refuses nothing: %s',
  (code) => {
    expect(transportError(Object.assign(new Error('silence'), { code }), [])).toMatchObject({
      code: 'service.unreachable',
      shortMessage: `the service cannot be reached (${code})`,
    });
  },
);

test.for([
  [62, [BACKUP]],
  ['v0', { id: 1, instance_id: 'i1', backups: [], restores: [] }],
] as const)(
  'in revision %s a service that says that it is simulated is known as such from then on',
  async ([revision, list]) => {
    let headers: Record<string, string> = {};
    const { client } = await serve((_, socket) => socket.write(json(200, list, headers)), { revision });
    await client.backups();
    expect(client.isSimulated()).toBe(false);
    headers = { 'lifeboat-lab': 'simulated' };
    await client.backups();
    expect(client.isSimulated()).toBe(true);
    headers = {};
    await client.backups();
    expect(client.isSimulated()).toBe(true);
  },
);
