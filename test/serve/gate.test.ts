import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ipNetwork } from '../../src/base/ip-network.ts';
import { isLocal, readListening } from '../../src/base/listening.ts';
import { fanOut } from '../../src/serve/fan-out.ts';
import { byHeader } from '../../src/serve/identity.ts';
import { startPageServer } from '../../src/serve/page-server.ts';
import { refusalLog } from '../../src/serve/refusal-log.ts';
import { sourcesOf } from './pages.ts';
import { serve } from './requests.ts';

const CLOSE = 'Connection: close';

function named(...proxies: readonly string[]) {
  const networks = proxies.flatMap((text) => ipNetwork(text) ?? []);
  return { networks, unix: proxies.includes('unix'), identify: byHeader('X-Forwarded-User') };
}

describe('a page on this machine', () => {
  test('answers GET and HEAD, and refuses every other method with 405', async (context) => {
    const { raw, port, log } = await serve(context);
    const host = `Host: 127.0.0.1:${port}`;
    expect(await raw('GET / HTTP/1.1', host, CLOSE)).toMatch(/^HTTP\/1\.1 200 /u);
    const head = await raw('HEAD / HTTP/1.1', host, CLOSE);
    expect(head).toMatch(/^HTTP\/1\.1 200 /u);
    expect(head.split('\r\n\r\n')[1]).toBe('');
    for (const method of [
      'POST',
      'PUT',
      'DELETE',
      'PATCH',
      'OPTIONS',
      'TRACE',
      'CONNECT',
      'PROPFIND',
      'BREW',
    ]) {
      const answer = await raw(`${method} / HTTP/1.1`, host, CLOSE);
      expect([method, answer.slice(0, 12)]).toEqual([method, 'HTTP/1.1 405']);
    }
    expect(log).toHaveLength(9);
    expect(log[0]).toBe('refused 405: 127.0.0.1 POST /: only GET and HEAD are answered');
  });

  test('is refused under another name, with two names, or with none', async (context) => {
    const { raw, port, log } = await serve(context);
    const own = `Host: 127.0.0.1:${port}`;
    const requests = [
      ['GET / HTTP/1.1', 'Host: evil.example'],
      ['GET / HTTP/1.1', `Host: 127.0.0.1.evil.example:${port}`],
      ['GET / HTTP/1.1', 'Host: page.example.org:8444'],
      ['GET / HTTP/1.1', own, 'Host: evil.example'],
      ['GET / HTTP/1.0'],
      ['GET http://evil.example/ HTTP/1.1', own],
    ];
    for (const lines of requests) {
      const answer = await raw(...lines, CLOSE);
      // Two of them are no request of HTTP for the parser already.
      expect([lines, answer.slice(9, 12)]).toEqual([lines, expect.stringMatching(/^42[1]|400$/u)]);
    }
    expect(log).toHaveLength(requests.length);
    expect(log[0]).toContain('neither this machine nor in serve.hosts (evil.example)');
  });

  test('is served under its names, through a tunnel or a proxy on any port', async (context) => {
    const { raw } = await serve(context);
    for (const host of [
      '127.0.0.1',
      '127.0.0.1:9000',
      'DR.example.org',
      'dr.example.org:444',
      'page.example.org:8443',
    ])
      expect(await raw('GET / HTTP/1.1', `Host: ${host}`, CLOSE)).toMatch(/^HTTP\/1\.1 200 /u);
  });

  test('answers HEAD for the event stream with its headers only', async (context) => {
    const { raw, port } = await serve(context);
    const head = await raw('HEAD /events HTTP/1.1', `Host: 127.0.0.1:${port}`, CLOSE);
    expect(head).toMatch(/^HTTP\/1\.1 200 .*content-type: text\/event-stream/isu);
    expect(head.split('\r\n\r\n')[1]).toBe('');
  });

  test('says that the record cannot be read, and reloads itself until it can', async (context) => {
    const { raw, port, spoil } = await serve(context);
    spoil();
    const host = `Host: 127.0.0.1:${port}`;
    const page = await raw('GET / HTTP/1.1', host, CLOSE);
    expect(page).toMatch(/^HTTP\/1\.1 503 .*content-type: text\/html/isu);
    expect(page).toContain('<h1>The record cannot be read now</h1>');
    expect(page).toContain('<meta http-equiv="refresh" content="20">');
    const twin = await raw('GET /board.json HTTP/1.1', host, CLOSE);
    expect(JSON.parse(twin.split('\r\n\r\n')[1] ?? '')).toEqual({ error: 'the record cannot be read now' });
  });

  test('refuses a target that is too long with 414, and says so without its query', async (context) => {
    const { raw, port, log } = await serve(context);
    const host = `Host: 127.0.0.1:${port}`;
    for (const length of [2_000, 40_000]) {
      const answer = await raw(`GET /?token=${'x'.repeat(length)} HTTP/1.1`, host, CLOSE);
      expect([length, answer.slice(9, 12)]).toEqual([length, '414']);
    }
    expect(await raw('GET / HTTP/1.1', host, `X-Long: ${'x'.repeat(40_000)}`)).toMatch(/^HTTP\/1\.1 431 /u);
    expect(log).toHaveLength(3);
    expect(log.join('\n')).not.toContain('xxx');
  });

  test('refuses a body', async (context) => {
    const { raw, port } = await serve(context);
    const answer = await raw('GET / HTTP/1.1', `Host: 127.0.0.1:${port}`, 'Content-Length: 3', CLOSE);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /u);
  });

  test('refuses clients behind a proxy that is not named', async (context) => {
    const { raw, port, log } = await serve(context);
    for (const header of ['X-Forwarded-For: 203.0.113.9', 'Forwarded: for=203.0.113.9', 'Via: 1.1 nginx']) {
      const answer = await raw('GET / HTTP/1.1', `Host: 127.0.0.1:${port}`, header, CLOSE);
      expect([header, answer.slice(9, 12)]).toEqual([header, '401']);
    }
    expect(log[0]).toContain('none is named in serve.trustedProxies');
  });
});

describe('a page behind a proxy', () => {
  test('accepts the header of that proxy, and logs each viewer once', async (context) => {
    const { raw, log } = await serve(context, { proxies: named('127.0.0.0/8') });
    for (let at = 0; at < 2; at += 1)
      expect(await raw('GET / HTTP/1.1', 'Host: dr.example.org', 'X-Forwarded-User: ada', CLOSE)).toMatch(
        /^HTTP\/1\.1 200 /u,
      );
    expect(log).toEqual(['ada looks on, through 127.0.0.1']);
  });

  test('does not accept the same header from any other peer', async (context) => {
    const { raw, log } = await serve(context, { proxies: named('10.0.0.5', 'unix') });
    const answer = await raw('GET / HTTP/1.1', 'Host: dr.example.org', 'X-Forwarded-User: root', CLOSE);
    expect(answer).toMatch(/^HTTP\/1\.1 401 /u);
    expect(log).toEqual(['refused 401: 127.0.0.1 GET /: the peer is no trusted proxy']);
  });

  test('admits nobody where the proxy names no user, two users, or one in two spellings', async (context) => {
    const { raw } = await serve(context, { proxies: named('127.0.0.1') });
    const own = 'X-Forwarded-User: ada';
    for (const headers of [
      [],
      ['X-Forwarded-User: '],
      [own, 'X-Forwarded-User: root'],
      [own, 'x-forwarded-user: root'],
      [own, 'X_Forwarded_User: root'],
      [own, 'X-Forwarded_User: root'],
      ['X-Forwarded-User: ada, root'],
    ]) {
      const answer = await raw('GET / HTTP/1.1', 'Host: dr.example.org', ...headers, CLOSE);
      expect([headers, answer.slice(9, 12)]).toEqual([headers, '401']);
    }
  });
});

test('a flood of refusals is logged in at most twenty lines a minute, and the rest are counted', () => {
  const lines: string[] = [];
  const log = refusalLog((line) => void lines.push(line));
  const refused = {
    status: 401,
    why: 'no',
    peer: '10.0.0.1',
    method: 'GET',
    target: '/\u001b[2J?token=x',
  } as const;
  for (let at = 0; at < 1_000; at += 1) log.tell(refused);
  log.end();
  expect(lines).toHaveLength(21);
  expect(lines[0]).toBe('refused 401: 10.0.0.1 GET /\ufffd[2J: no');
  expect(lines.at(-1)).toBe('refused 401: 980 more requests within a minute');
});

test('a flood of one kind hides no refusal of another', () => {
  const lines: string[] = [];
  const log = refusalLog((line) => void lines.push(line));
  const refused = { why: 'no', peer: '10.0.0.1', method: 'GET', target: '/' };
  for (let at = 0; at < 100; at += 1) log.tell({ ...refused, status: 405 });
  log.tell({ ...refused, status: 401 });
  expect(lines.at(-1)).toBe('refused 401: 10.0.0.1 GET /: no');
  log.end();
  expect(lines.slice(21)).toEqual(['refused 405: 80 more requests within a minute']);
});

test('a socket is for its user and group, and replaces one that is left over, but none that answers', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-socket-'));
  context.onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'page.sock');
  const start = () =>
    startPageServer({
      ...{ listening: { kind: 'unix', path }, sources: sourcesOf(), news: fanOut({ most: 1, size: 0 }) },
      gate: { hosts: new Set(['localhost']), proxies: undefined },
      say: () => undefined,
      onFailure: () => undefined,
    });
  const server = await start();
  expect(statSync(path).mode & 0o777).toBe(0o660);
  const status = await new Promise((resolve) => {
    request({ socketPath: path, path: '/', headers: { host: 'localhost' } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    }).end();
  });
  expect(status).toBe(200);
  await expect(start()).rejects.toMatchObject({ code: 'serve.listen', exitCode: 2 });
  await server.close();
  expect(existsSync(path)).toBe(false);
});

test('only an address of this machine or a socket counts as local', () => {
  const local = (text: string) => {
    const read = readListening(text);
    return read === undefined ? undefined : isLocal(read);
  };
  expect(['127.0.0.1:1', '127.9.9.9:1', '[::1]:1', 'localhost:1', 'unix:/a'].map(local)).toEqual(
    Array(5).fill(true),
  );
  expect(['0.0.0.0:1', '10.0.0.1:1', '[::]:1', '[fe80::1]:1'].map(local)).toEqual(Array(4).fill(false));
  expect(['8437', ':8437', 'example.org:1', '::1:80', 'unix:a', '127.0.0.1:99999'].map(local)).toEqual(
    Array(6).fill(undefined),
  );
});
