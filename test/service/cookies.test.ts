import { expect, onTestFinished, test } from 'vitest';
import { openCookieJar } from '../../src/service/connection.ts';
import { answer, json, startFaultServer } from './fault-server.ts';
import { serve } from './serve.ts';

const HTTPS = 'https://pg.example.com';
const at = (path: string, origin = HTTPS) => new URL(path, origin);

async function jarWith(origin: string, ...lines: string[]) {
  const jar = openCookieJar(origin);
  await jar.keep(at('/service-instances/i1/backups', origin), lines);
  return jar;
}

test('a cookie goes back to its origin: not to another host, port or scheme', async () => {
  const jar = await jarWith('https://pg.example.com:8443', 'session=s1; Path=/');
  expect(await jar.header(at('/x', 'https://pg.example.com:8443'))).toBe('session=s1');
  for (const origin of [
    'https://pg.example.com',
    'https://pg.example.com:8444',
    'http://pg.example.com:8443',
    'https://other.example.com:8443',
    'https://a.pg.example.com:8443',
  ]) {
    expect(await jar.header(at('/x', origin))).toBeUndefined();
  }
});

test('a cookie that another origin sets is not kept', async () => {
  const jar = openCookieJar(HTTPS);
  for (const origin of ['https://evil.example.com', 'http://pg.example.com', 'https://pg.example.com:8443']) {
    await jar.keep(at('/', origin), 'session=evil; Path=/; Domain=example.com');
  }
  expect(await jar.header(at('/'))).toBeUndefined();
});

const LINES: readonly (readonly [string, readonly string[], string | undefined])[] = [
  ['a session cookie', ['a=1'], 'a=1'],
  ['a cookie with a Max-Age', ['a=1; Max-Age=60'], 'a=1'],
  ['a cookie that is over at once', ['a=1; Max-Age=0'], undefined],
  ['a cookie that is taken back', ['a=1', 'a=; Max-Age=-5'], undefined],
  ['a cookie that has expired', ['a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT'], undefined],
  ['Max-Age before Expires', ['a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60'], 'a=1'],
  ['the newest value of a name', ['a=1', 'a=2'], 'a=2'],
  ['a cookie for the domain above', ['a=1; Domain=example.com'], 'a=1'],
  ['a cookie for a stranger', ['a=1; Domain=evil.example.org'], undefined],
  ['a cookie for all of com', ['a=1; Domain=com'], undefined],
  ['a cookie of another path', ['a=1; Path=/login'], undefined],
  ['nonsense beside a cookie', ['', '=', ';;;', 'a', '\u0007=1', 'b=2'], 'b=2'],
  ['a value with an equals sign', ['a=x==; Path=/'], 'a=x=='],
  ['a value that no header can carry', ['a=\u6f22', 'b=2'], 'b=2'],
  ['a cookie of more than 4096 characters', [`a=${'x'.repeat(5000)}`, 'b=2'], 'b=2'],
];
for (const [what, lines, expected] of LINES) {
  test(`${what}: ${expected === undefined ? 'nothing is sent' : 'what holds is sent'}`, async () => {
    const jar = await jarWith(HTTPS, ...lines);
    expect(await jar.header(at('/service-instances/i1/backups'))).toBe(expected);
  });
}

test('a secure cookie is not sent over plain http to another machine', async () => {
  const origin = 'http://pg.example.com';
  const jar = await jarWith(origin, 'a=1; Path=/; Secure', 'b=2; Path=/');
  expect(await jar.header(at('/', origin))).toBe('b=2');
  expect(await (await jarWith(HTTPS, 'a=1; Path=/; Secure')).header(at('/'))).toBe('a=1');
});

test('a jar is full after twenty cookies and keeps the first ones until some have expired', async () => {
  const lines = Array.from({ length: 30 }, (_, index) => `c${index}=1; Path=/`);
  const jar = await jarWith(HTTPS, ...lines);
  const names = (await jar.header(at('/')))?.split('; ').map((pair) => pair.split('=')[0]);
  expect(names).toEqual(lines.slice(0, 20).map((line) => line.split('=')[0]));
  await jar.keep(at('/'), ['c0=; Path=/; Max-Age=0', 'late=1; Path=/', 'c1=new; Path=/']);
  const header = await jar.header(at('/'));
  expect(header).toContain('late=1');
  expect(header).toContain('c1=new');
  expect(header?.split('; ')).toHaveLength(20);
});

test('a cookie beyond ASCII comes back byte for byte', async () => {
  const { client, server } = await serve((_, socket) =>
    socket.write(json(200, [], { 'set-cookie': 'session=\u6f22\u5b57; Path=/' })),
  );
  await client.backups();
  await client.backups();
  const sent = Buffer.from(server.requests[1]?.headers['cookie'] ?? '', 'latin1').toString('utf8');
  expect(sent).toBe('session=\u6f22\u5b57');
});

test('another server on another port of this machine gets no cookie', async () => {
  const other = await startFaultServer((_, socket) => socket.write(answer(200, 'Salted__bytes')));
  onTestFinished(other.close);
  const { client } = await serve((request, socket) =>
    socket.write(
      request.path.endsWith('/download')
        ? answer(302, '', { location: `${other.origin}/store` })
        : json(200, [], { 'set-cookie': 'session=s1; Path=/' }),
    ),
  );
  await client.backups();
  await client.download(1);
  expect(other.requests[0]?.headers).not.toHaveProperty('cookie');
});

test('reads of one client share their cookies, but not with another client', async () => {
  const { client, server } = await serve((_, socket) =>
    socket.write(json(200, [], { 'set-cookie': 'session=s1; Path=/; HttpOnly' })),
  );
  await client.backups();
  await client.backups();
  const other = await serve((_, socket) => socket.write(json(200, [])));
  await other.client.backups();
  expect(server.requests.map((request) => request.headers['cookie'])).toEqual([undefined, 'session=s1']);
  expect(other.server.requests[0]?.headers).not.toHaveProperty('cookie');
});
