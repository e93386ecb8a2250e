import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HttpCall } from '../../src/audit/transcript/line.ts';
import { openTranscript, transcriptPath } from '../../src/audit/transcript/transcript.ts';
import { Secret } from '../../src/base/secret.ts';
import { temporaryHome } from '../store/temporary-home.ts';

const KEY = 'kq7Zp2+w/"x9 Lm4';

/** A request with everything that a request can have. */
function call(changes: Partial<HttpCall> = {}): HttpCall {
  return {
    kind: 'service',
    to: 'orders',
    at: new Date(0),
    method: 'PATCH',
    url: 'https://service.example.com/v1/instances/abc/backups-config',
    headers: { accept: 'application/json', authorization: '', cookie: 'JSESSIONID=0123456789abcdef' },
    body: undefined,
    secrets: [],
    hidden: [],
    status: 200,
    answerHeaders: { date: 'Fri, 02 Jan 2026 03:04:05 GMT', 'set-cookie': ['a=b'], 'x-other': 'no' },
    bytes: 2,
    sha256: 'ab'.repeat(32),
    answer: '{}',
    ms: 12.4,
    error: undefined,
    ...changes,
  };
}

function written(home: string): Record<string, unknown>[] {
  const text = readFileSync(transcriptPath(home, 'r'), 'utf8');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** The line of one call. */
function lineOf(one: HttpCall, known: readonly (readonly [string, string])[] = []): Record<string, unknown> {
  const home = temporaryHome();
  const transcript = openTranscript(home, 'r');
  for (const [secret, name] of known) transcript.guard(new Secret(secret), name);
  transcript.write(one);
  transcript.close();
  return written(home)[0] ?? {};
}

describe('a transcript of requests', () => {
  test('shows a request and its answer, every header by name, but no value that is a secret', () => {
    expect(lineOf(call())).toEqual({
      no: 1,
      at: '1970-01-01T00:00:00.000Z',
      to: 'orders',
      method: 'PATCH',
      url: 'https://service.example.com/v1/instances/abc/backups-config',
      headers: { accept: 'application/json', authorization: '[secret]', cookie: '[secret]' },
      status: 200,
      answer: {
        headers: { date: 'Fri, 02 Jan 2026 03:04:05 GMT', 'set-cookie': '[secret]' },
        bytes: 2,
        sha256: 'ab'.repeat(32),
        json: {},
      },
      ms: 12,
    });
    expect(lineOf(call({ status: undefined, error: 'ECONNRESET' }))).not.toHaveProperty('answer');
  });

  test('has a fingerprint instead of a key, even where an answer quotes the key', () => {
    const body = JSON.stringify({ encryption_key: KEY, retention_time: 7 });
    const line = lineOf(
      call({ body, secrets: [new Secret(KEY)], answer: JSON.stringify({ message: `set ${KEY}` }) }),
      [[KEY, 'fingerprint:0a1b2c3d4e5f']],
    );
    expect(line['body']).toEqual({ encryption_key: 'fingerprint:0a1b2c3d4e5f', retention_time: 7 });
    // A hash of an answer with a secret would make the secret guessable.
    expect(line['answer']).toEqual(expect.not.objectContaining({ sha256: expect.anything() }));
    expect(line['answer']).toMatchObject({ json: { message: 'set fingerprint:0a1b2c3d4e5f' } });
  });

  test.each<[string, Partial<HttpCall>]>([
    ['in a path', { url: `https://s.example.com/v1/${encodeURIComponent(KEY)}` }],
    ['in base64', { answer: JSON.stringify({ note: Buffer.from(`u:${KEY}`).toString('base64') }) }],
    ['in hex', { answer: JSON.stringify({ note: Buffer.from(KEY).toString('hex') }) }],
    ['in JSON inside JSON', { answer: JSON.stringify({ note: JSON.stringify({ inner: KEY }) }) }],
    ['in a header', { answerHeaders: { etag: KEY } }],
  ])('a known secret %s is not written', (_where, changes) => {
    const text = JSON.stringify(lineOf(call(changes), [[KEY, 'fingerprint:0a1b2c3d4e5f']]));
    for (const form of [
      KEY,
      encodeURIComponent(KEY),
      Buffer.from(KEY).toString('hex'),
      JSON.stringify(KEY).slice(1, -1),
    ])
      expect(text).not.toContain(form);
    expect(text).toMatch(/withheld|fingerprint/u);
  });

  test('a secret that was not registered is not written if its field name identifies it', () => {
    const answer = { name: 'orders', password: 'hunter2', admin: { access_token: 'abc', keyCount: 2 } };
    const line = lineOf(call({ answer: JSON.stringify(answer) }));
    expect(line['answer']).toMatchObject({
      json: { name: 'orders', password: '[secret]', admin: { access_token: '[secret]', keyCount: 2 } },
    });
  });

  test('of the platform contains only known fields, and nothing of credentials and parameters', () => {
    const answer = JSON.stringify({
      guid: 'g',
      name: 'n',
      credentials: { uri: 'postgres://u:p@h' },
      vcap: 'x',
    });
    const platform = { kind: 'platform', to: 'platform', answer } as const;
    const line = lineOf(call({ ...platform, url: 'https://api.example.com/v3/apps?guids=a,b&code=xyz' }));
    expect(line['answer']).toMatchObject({ json: { guid: 'g', name: 'n', 'fields left out': 2 } });
    expect(line['url']).toBe('https://api.example.com/v3/apps?guids=a,b&code=[secret]');
    const binding = 'https://api.example.com/v3/service_credential_bindings/g';
    for (const url of [`${binding}/details`, `${binding}/parameters`]) {
      const { answer: written } = lineOf(call({ ...platform, url })) as { answer: object };
      expect(Object.keys(written)).toEqual(['headers', 'bytes']);
    }
  });

  test('hostile text does not act on its reader', () => {
    const answer = JSON.stringify({ note: '\u001b]0;x\u0007\u202e\u009b' });
    const home = temporaryHome();
    const transcript = openTranscript(home, 'r');
    transcript.write(call({ answer, method: '\u001b[2J', url: 'https://x/\u001b[2J' }));
    expect(readFileSync(transcriptPath(home, 'r'), 'utf8')).toMatch(/^[ -~]+\n$/u);
  });

  test('can be read by its owner only, and continues where an earlier process ended', () => {
    const home = temporaryHome();
    for (const count of [1, 2]) {
      const transcript = openTranscript(home, 'r');
      transcript.write(call());
      expect(transcript.keep()).toMatchObject({
        lines: count,
        bytes: statSync(transcriptPath(home, 'r')).size,
      });
      transcript.close();
    }
    expect(statSync(transcriptPath(home, 'r')).mode & 0o777).toBe(0o600);
    expect(written(home).map(({ no }) => no)).toEqual([1, 2]);
  });

  test('a line that a killed process left incomplete is cut off, and a new line says so', () => {
    const home = temporaryHome();
    const first = openTranscript(home, 'r');
    first.write(call());
    first.close();
    appendFileSync(transcriptPath(home, 'r'), '{"no":2,"at":"19');
    const second = openTranscript(home, 'r');
    second.write(call());
    second.close();
    expect(written(home)).toMatchObject([
      { no: 1 },
      { no: 2, note: 'the last line was torn: 16 bytes were cut off' },
      { no: 3 },
    ]);
  });

  test('that cannot be written is reported once and does not stop the run', () => {
    const home = temporaryHome();
    writeFileSync(join(home, 'transcripts'), 'a file where the folder should be');
    const transcript = openTranscript(home, 'r');
    transcript.write(call());
    expect(transcript.problem).toMatchObject({ code: 'evidence.transcript' });
    expect(transcript.keep()).toMatchObject({ lines: 0, bytes: 0 });
  });
});
