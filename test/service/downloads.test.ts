import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { Revision } from '../../src/service/revisions.ts';
import { answer, json, startFaultServer } from './fault-server.ts';
import { rejection, serve, TOKEN_WORD } from './serve.ts';

const V1 = '/v1/instances/i1/backups/3/download';
const V0 = '/service-instances/i1/backups/3/download';
const BYTES = `Salted__${'x'.repeat(300_000)}`;
const TYPE = { 'content-type': 'application/gzip' };
const RANGE = { 'content-range': 'bytes 10-13/14' };

const FIRST: readonly (readonly [Revision, string])[] = [
  [61, V1],
  [62, V0],
  ['v0', V0],
];
for (const [revision, path] of FIRST) {
  test(`revision ${revision} downloads from ${path}`, async () => {
    const { client, server } = await serve((_, socket) => socket.write(answer(200, BYTES, TYPE)), {
      revision,
    });
    const download = await client.download(3);
    expect(download.length).toBe(BYTES.length);
    expect((await buffer(download.stream)).toString()).toBe(BYTES);
    expect(server.requests).toMatchObject([
      { method: 'GET', path, headers: { authorization: `bearer ${TOKEN_WORD}` } },
    ]);
  });
}

test('if one way is closed the next one is tried, the POST of V0 last', async () => {
  const { client, server } = await serve((request, socket) => {
    if (request.method === 'POST') socket.write(answer(200, BYTES, TYPE));
    else if (request.path === V0) socket.write(answer(405, '', { allow: 'POST' }));
    else socket.write(json(500, { error: 'internalIssue' }));
  });
  expect((await buffer((await client.download(3)).stream)).length).toBe(BYTES.length);
  const seen = server.requests.map(({ method, path }) => `${method} ${path}`);
  expect([...new Set(seen)]).toEqual([`GET ${V0}`, `GET ${V1}`, `POST ${V0}`]);
  expect(seen.filter((line) => line.startsWith('POST'))).toHaveLength(1);
});

test('the POST of V0 is sent once, whatever the answer', async () => {
  const { client, server } = await serve((request, socket) => {
    if (request.method === 'POST') socket.write(answer(502, ''));
    else socket.write(answer(405, ''));
  });
  expect(await rejection(client.download(3))).toMatchObject({ code: 'service.not-found' });
  expect(server.requests.filter((request) => request.method === 'POST')).toHaveLength(1);
});

test('if every way is closed the first error is reported and all are evidence', async () => {
  const { client } = await serve((request, socket) =>
    socket.write(request.path === V0 ? json(404, { msg: 'gone' }) : answer(405, '')),
  );
  expect(await rejection(client.download(3))).toMatchObject({
    code: 'service.not-found',
    shortMessage: 'the service does not know this (404): "gone"',
    evidence: { tried: [expect.any(String), expect.any(String), expect.any(String)] },
  });
});

test('if every way fails, the error says how often the service was asked, including repetitions', async () => {
  const { client, server } = await serve((_, socket) => socket.write(json(502, { error: 'upstream' })));
  expect(await rejection(client.download(3))).toMatchObject({
    shortMessage: 'the router got no proper answer from the service (502): "upstream"',
    evidence: { status: 502, requests: 9 },
  });
  expect(server.requests).toHaveLength(9);
});

for (const [status, code] of [
  [412, 'service.precondition'],
  [401, 'credentials.refused'],
  [403, 'service.forbidden'],
] as const) {
  test(`a ${status} is final: no other way is tried`, async () => {
    const { client, server } = await serve((_, socket) =>
      socket.write(json(status, { message: 'not this one', status })),
    );
    expect(await rejection(client.download(3))).toMatchObject({ code });
    expect(server.requests).toHaveLength(1);
  });
}

test('a login page is not taken for a backup, but a backup with the type of a page is', async () => {
  const html = { 'content-type': 'text/html' };
  const { client } = await serve((request, socket) =>
    socket.write(answer(200, request.path === V0 ? '\n<!doctype html>' : BYTES, html)),
  );
  const { stream } = await client.download(3);
  expect((await buffer(stream)).toString()).toBe(BYTES);
});

for (const [what, bytes, words] of [
  ['a web page that says it is gzip', answer(200, '\r\n\ufeff <html>', TYPE), 'a web page instead'],
  ['JSON', answer(200, '[{"error":"expired"}]', TYPE), 'JSON instead'],
  ['other bytes', answer(200, 'Salt and pepper', TYPE), 'does not begin like a backup'],
  ['an encoding', answerOf('\u001f\u008b and more', { 'content-encoding': 'GZIP' }), 'encoded as gzip'],
  ['two encodings', answer(200, 'by brotli', { 'content-encoding': 'aws-chunked, br' }), 'encoded as br'],
] as const) {
  test(`${what} with 200 is refused, and the next way is tried`, async () => {
    const { client } = await serve((request, socket) =>
      socket.write(request.path === V0 ? bytes : answer(200, BYTES, TYPE)),
    );
    expect((await buffer((await client.download(3)).stream)).toString()).toBe(BYTES);
    const all = await serve((_, socket) => socket.write(bytes));
    expect(await rejection(all.client.download(3))).toMatchObject({
      code: 'service.bad-answer',
      shortMessage: expect.stringContaining(words),
    });
  });
}

test('the beginning decides even if it arrives byte by byte', async () => {
  const { client } = await serve((_, socket) => {
    socket.write(answer(200, BYTES, TYPE).replace(BYTES, ''));
    const dribble = (at: number) => {
      if (at === 300) socket.write(BYTES.slice(at));
      else socket.write(BYTES.slice(at, at + 1), () => setImmediate(() => dribble(at + 1)));
    };
    dribble(0);
  });
  expect((await buffer((await client.download(3)).stream)).toString()).toBe(BYTES);
});

for (const body of ['', 'Salted__', BYTES.slice(0, 40), '\u001f\u008b'.repeat(2)]) {
  test(`${body.length} bytes that may be the beginning of a backup are passed on unchanged`, async () => {
    const { client } = await serve((_, socket) => socket.write(answerOf(body)));
    expect((await buffer((await client.download(3)).stream)).toString('latin1')).toBe(body);
  });
}

function answerOf(latin1: string, more: Readonly<Record<string, string>> = {}): Buffer {
  const headers = { ...TYPE, 'content-length': String(latin1.length), ...more };
  return Buffer.from(answer(200, latin1, headers), 'latin1');
}

test.each(['aws-chunked', 'gzip', 'x-gzip', 'aws-chunked, br'])(
  'the bytes decide: a file that begins as an encrypted backup is not %s, from its beginning and from an offset',
  async (encoding) => {
    const headers = { ...TYPE, 'content-encoding': encoding };
    const rest = { ...headers, 'content-range': `bytes 10-${BYTES.length - 1}/${BYTES.length}` };
    const { client } = await serve(({ headers: { range } }, socket) =>
      socket.write(range === undefined ? answer(200, BYTES, headers) : answer(206, BYTES.slice(10), rest)),
    );
    expect((await buffer((await client.download(3)).stream)).toString()).toBe(BYTES);
    const { stream, offset } = await client.download(3, { offset: 10 });
    expect([offset, (await buffer(stream)).length]).toEqual([10, BYTES.length - 10]);
  },
);

test('an unrequested part is refused', async () => {
  const { client } = await serve((_, socket) => socket.write(answer(206, 'rest', { ...TYPE, ...RANGE })));
  expect(await rejection(client.download(3))).toMatchObject({ shortMessage: 'a download answers with 206' });
});

test('a page in the middle of a download does not mean that the service cannot continue', async () => {
  const { client } = await serve((_, socket) => socket.write(answer(200, '<html>', TYPE)));
  const error = await rejection(client.download(3, { offset: 10 }));
  expect(error).toMatchObject({ shortMessage: 'the service sends a web page instead of the backup' });
  expect(error).not.toMatchObject({ evidence: { download: 'offset' } });
});

test('a download says whether its end is known: by a length, in chunks, or not', async () => {
  for (const [fields, framed] of [
    ['content-length: 300008', true],
    ['transfer-encoding: chunked', true],
    ['connection: close', false],
  ] as const) {
    const { client } = await serve((_, socket) => {
      const bytes = fields.endsWith('chunked') ? `493e8\r\n${BYTES}\r\n0\r\n\r\n` : BYTES;
      socket.end(`HTTP/1.1 200 OK\r\n${fields}\r\n\r\n${bytes}`);
    });
    const download = await client.download(3);
    expect(download.framed).toBe(framed);
    expect((await buffer(download.stream)).toString()).toBe(BYTES);
  }
});

test('a redirect to another origin is followed without the token, as is the way back', async () => {
  const store = await startFaultServer((request, socket) => {
    if (request.path === '/signed?password=1') socket.write(answer(307, '', { location: `${origin}/back` }));
    else socket.write(answer(404, ''));
  });
  onTestFinished(store.close);
  const paths: string[] = [];
  const { client, server } = await serve(
    (request, socket) => {
      if (request.path === '/back') socket.write(answer(200, BYTES, TYPE));
      else {
        const headers = { location: `${store.origin}/signed?password=1`, 'set-cookie': 'session=s1' };
        socket.write(answer(302, '', headers));
      }
    },
    { tap: ({ url }) => paths.push(new URL(url).pathname) },
  );
  const { origin } = server;
  expect((await buffer((await client.download(3)).stream)).length).toBe(BYTES.length);
  expect(store.requests).toHaveLength(1);
  for (const request of [...store.requests, ...server.requests.slice(1)]) {
    expect(request.headers).not.toHaveProperty('authorization');
    expect(request.headers).not.toHaveProperty('cookie');
  }
  expect(server.requests.map((request) => request.path)).toEqual([V0, '/back']);
  expect(paths).toEqual([V0, '/signed', '/back']);
});

test('an offset requests the rest and accepts only the rest', async () => {
  const { client, server } = await serve((_, socket) =>
    socket.write(answer(206, 'rest', { ...TYPE, 'content-range': 'bytes 10-13/14' })),
  );
  const { stream } = await client.download(3, { offset: 10 });
  expect((await buffer(stream)).toString()).toBe('rest');
  expect(server.requests[0]?.headers['range']).toBe('bytes=10-');
});

for (const [what, bytes] of [
  ['another range', answer(206, 'rest', { ...TYPE, 'content-range': 'bytes 0-3/14' })],
  ['a range further on', answer(206, 'rest', { ...TYPE, 'content-range': 'bytes 20-23/24' })],
  ['a 206 without a range', answer(206, 'rest', TYPE)],
  ['a 206 of other bytes', answer(206, 'rest', { ...TYPE, ...RANGE, etag: '"other"' })],
  ['a range that ends before it begins', answer(206, '', { ...TYPE, 'content-range': 'bytes 10-9/14' })],
  ['a range behind the end', answer(206, 'rest', { ...TYPE, 'content-range': 'bytes 10-13/12' })],
  ['a range of another length', answer(206, 'rest', { ...TYPE, 'content-range': 'bytes 10-19/20' })],
  ['a 416', answer(416, '', TYPE)],
] as const) {
  test(`for a requested offset, ${what} is refused`, async () => {
    const { client, server } = await serve((_, socket) => socket.write(bytes));
    expect(await rejection(client.download(3, { offset: 10, ifRange: '"mine"' }))).toMatchObject({
      code: 'service.bad-answer',
      hints: ['download the backup from its beginning'],
    });
    expect(server.requests).toHaveLength(1);
  });
}

test('a download that ends before its announced length is a broken connection, not a strange answer', async () => {
  const { client } = await serve((_, socket) => {
    socket.end(answer(200, BYTES, { ...TYPE, 'content-length': String(BYTES.length + 9) }));
  });
  const { stream } = await client.download(3);
  expect(await rejection(buffer(stream))).toMatchObject({ code: 'service.reset' });
});

test('a download reports what is needed to continue it', async () => {
  const headers = { ...TYPE, etag: '"v1"', 'accept-ranges': 'bytes' };
  const { client } = await serve((_, socket) => socket.write(answer(200, BYTES, headers)));
  expect(await client.download(3)).toMatchObject({
    offset: 0,
    length: BYTES.length,
    total: BYTES.length,
    acceptsRanges: true,
    etag: '"v1"',
  });
  const silent = await serve((_, socket) => socket.write(answer(200, BYTES, { ...TYPE, etag: 'W/"v1"' })));
  expect(await silent.client.download(3)).toMatchObject({ acceptsRanges: false, etag: undefined });
});

test('a download continues under its etag if the service supports it, and otherwise starts again', async () => {
  const answers = [
    answer(206, 'rest', { ...TYPE, ...RANGE, etag: '"mine"' }),
    answer(200, BYTES, { ...TYPE, etag: '"new"' }),
  ];
  const { client, server } = await serve((_, socket) => socket.write(answers.shift() ?? ''));
  const rest = await client.download(3, { offset: 10, ifRange: '"mine"' });
  expect(rest).toMatchObject({ offset: 10, length: 4, total: 14, acceptsRanges: true });
  expect((await buffer(rest.stream)).toString()).toBe('rest');
  const anew = await client.download(3, { offset: 10, ifRange: '"mine"' });
  expect(anew).toMatchObject({ offset: 0, length: BYTES.length, total: BYTES.length, etag: '"new"' });
  expect((await buffer(anew.stream)).length).toBe(BYTES.length);
  expect(server.requests.map(({ headers }) => [headers['range'], headers['if-range']])).toEqual([
    ['bytes=10-', '"mine"'],
    ['bytes=10-', '"mine"'],
  ]);
});

test('with a useless etag the whole file is requested', async () => {
  for (const ifRange of ['W/"v1"', 'v1', '"a"\r\nx: 1', '']) {
    const { client, server } = await serve((_, socket) => socket.write(answer(200, BYTES, TYPE)));
    expect(await client.download(3, { offset: 10, ifRange })).toMatchObject({ offset: 0 });
    expect(server.requests[0]?.headers).not.toHaveProperty('range');
  }
});

test('the order of the ways can be chosen', async () => {
  const { client, server } = await serve((_, socket) => socket.write(answer(200, BYTES, TYPE)), {
    downloadOrder: ['v0-post'],
  });
  await client.download(3);
  expect(server.requests).toMatchObject([{ method: 'POST', path: V0 }]);
});

test('a download that breaks off fails with its reason and is not spliced', async () => {
  const { client, server } = await serve((_, socket) => {
    socket.end(answer(200, BYTES, TYPE).slice(0, 200_000));
  });
  const { stream } = await client.download(3);
  expect(await rejection(buffer(stream))).toMatchObject({ name: 'LifeboatError', code: 'service.reset' });
  expect(server.requests).toHaveLength(1);
});

test('chunks that break off are a broken connection, not a strange answer', async () => {
  const { client } = await serve((_, socket) => {
    socket.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n493e8\r\n${BYTES}\r\n`);
  });
  const { stream } = await client.download(3);
  expect(await rejection(buffer(stream))).toMatchObject({ code: 'service.reset' });
});

test('a download that breaks off while its first cookie is being kept fails, and does not hang', async () => {
  const headers = { 'content-type': 'text/html', 'set-cookie': 'session=s1; Path=/' };
  const { client } = await serve((_, socket) => {
    const whole = answer(200, BYTES, headers);
    socket.end(whole.slice(0, whole.indexOf(BYTES)));
  });
  expect(await rejection(client.download(3))).toMatchObject({ code: 'service.reset' });
});

for (const [what, framing] of [
  ['of a known length', { 'content-length': '1000000' }],
  ['in chunks', { 'transfer-encoding': 'chunked' }],
  ['that ends with its connection', {}],
] as const) {
  test(`a download ${what} is whole even if its reader is slow and the service hangs up after it`, async () => {
    const { client } = await serve((request, socket) => {
      const { connection = 'keep-alive' } = request.headers;
      const fields = { ...TYPE, ...framing, connection };
      const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
      const isChunked = 'transfer-encoding' in framing;
      const [before, after] = isChunked ? ['f4240\r\n', '\r\n0\r\n\r\n'] : ['', ''];
      socket.end(`HTTP/1.1 200 OK\r\n${head.join('')}\r\n${before}Salted__${'x'.repeat(999_992)}${after}`);
    });
    for (let turn = 1; turn <= 20; turn += 1) {
      const { stream } = await client.download(3);
      let read = 0;
      for await (const chunk of stream) {
        read += (chunk as Buffer).length;
        for (let round = 1; round <= 20; round += 1) await nextRound();
      }
      expect(read).toBe(1_000_000);
    }
  });
}

test('a download that falls silent is a timeout', async () => {
  const { client } = await serve(
    (_, socket) => {
      socket.write(answer(200, BYTES, TYPE).slice(0, 200_000));
    },
    { limits: { bodyMs: 100 } },
  );
  const { stream } = await client.download(3);
  expect(await rejection(buffer(stream))).toMatchObject({ code: 'service.timeout' });
});

test('the signal of the caller ends a download in the middle', async () => {
  const { client, server } = await serve((_, socket) => {
    socket.write(answer(200, BYTES, TYPE).slice(0, 1_000));
  });
  const stop = new AbortController();
  const { stream } = await client.download(3, { signal: stop.signal });
  await once(stream, 'readable');
  const failed = rejection(buffer(stream));
  stop.abort();
  await failed;
  await server.quiet();
});

test('a download is not limited in size, and waits for its reader', async () => {
  const size = 40 * 1024 * 1024;
  const { client } = await serve((_, socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`);
    const chunk = Buffer.alloc(1024 * 1024, 'Salted__');
    let left = size / chunk.length;
    const pump = () => {
      while (left > 0) {
        left -= 1;
        if (!socket.write(chunk)) return;
      }
    };
    socket.on('drain', pump);
    pump();
  });
  const { stream } = await client.download(3);
  let read = 0;
  let most = 0;
  for await (const chunk of stream) {
    read += (chunk as Buffer).length;
    most = Math.max(most, stream.readableLength);
  }
  expect(read).toBe(size);
  expect(most).toBeLessThan(1024 * 1024);
});
