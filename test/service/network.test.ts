import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { answer, type FaultServer, json, startFaultServer } from './fault-server.ts';
import { clientAt, rejection, TOKEN_WORD } from './serve.ts';

const folder = mkdtempSync(join(tmpdir(), 'lifeboat-network-'));
const caFile = join(folder, 'cert.pem');
let tlsServer: FaultServer;

beforeAll(async () => {
  const keyFile = join(folder, 'key.pem');
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=service.test',
      '-addext',
      'subjectAltName=DNS:service.test,IP:127.0.0.1',
      '-keyout',
      keyFile,
      '-out',
      caFile,
    ],
    { stdio: 'ignore' },
  );
  tlsServer = await startFaultServer((_, socket) => socket.write(json(200, { id: 5 })), {
    key: readFileSync(keyFile, 'utf8'),
    cert: readFileSync(caFile, 'utf8'),
    ALPNProtocols: ['h2', 'http/1.1'],
  });
});
afterAll(async () => {
  await tlsServer.close();
  rmSync(folder, { recursive: true });
});

afterEach(() => vi.unstubAllEnvs());

/** An HTTP proxy that connects every tunnel to one port and forwards nothing else. */
async function startProxy(port: number, refuse = false) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.writeHead(502).end('the proxy found nobody');
  });
  server.on('connect', (request, socket) => {
    seen.push(`CONNECT ${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim());
    expect(JSON.stringify(request.headers)).not.toContain(TOKEN_WORD);
    if (refuse) {
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      return;
    }
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    const upstream = connect(port, '127.0.0.1');
    upstream.pipe(socket).pipe(upstream);
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

test('a ca file makes a company certificate trusted; reads and sends speak HTTP/1.1 to a server that offers HTTP/2', async () => {
  const client = clientAt(tlsServer.origin, { caFile });
  const begin = tlsServer.protocols.length;
  await client.overview();
  expect(await client.createBackup()).toMatchObject({ outcome: 'accepted', value: { id: 5 } });
  expect(tlsServer.protocols.slice(begin)).toEqual(['http/1.1', 'http/1.1']);
});

test('an untrusted certificate is refused, with a hint, before a byte of the request', async () => {
  const client = clientAt(tlsServer.origin);
  const before = tlsServer.requests.length;
  expect(await rejection(client.overview())).toMatchObject({
    code: 'service.unreachable',
    shortMessage: 'no trusted TLS connection to the service (DEPTH_ZERO_SELF_SIGNED_CERT)',
    hints: [expect.stringContaining('set `ca` to the certificate file of your company')],
  });
  expect(await client.createBackup()).toMatchObject({ outcome: 'never-sent' });
  expect(tlsServer.requests).toHaveLength(before);
});

test('a ca file without certificates is a usage error', () => {
  writeFileSync(join(folder, 'bad.pem'), 'hello');
  for (const file of ['bad.pem', 'missing.pem']) {
    expect(() => clientAt(tlsServer.origin, { caFile: join(folder, file) })).toThrow(
      expect.objectContaining({ code: 'config.ca', exitCode: 2 }),
    );
  }
});

test('a proxy tunnels reads and sends: one connection, one request, HTTP/1.1', async () => {
  const proxy = await startProxy(tlsServer.port);
  vi.stubEnv('HTTPS_PROXY', proxy.url.replace('//', '//user:pa%20ss@'));
  const client = clientAt('https://service.test', { caFile });
  const before = tlsServer.requests.length;
  await client.overview();
  expect(await client.createBackup()).toMatchObject({ outcome: 'accepted', value: { id: 5 } });
  expect(tlsServer.requests.slice(before).map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /v1/instances/i1',
    'POST /v1/instances/i1/backups',
  ]);
  expect(tlsServer.protocols.at(-1)).toBe('http/1.1');
  const basic = Buffer.from('user:pa ss').toString('base64');
  expect(proxy.seen).toEqual(Array(2).fill(`CONNECT service.test:443 Basic ${basic}`));
});

test('an unrequested 100 is ignored on TLS, directly and through a tunnel', async () => {
  const asked = (_: unknown, socket: Socket) =>
    socket.write(`HTTP/1.1 100 Continue\r\n\r\n${json(200, { id: 5 })}`);
  const continuing = await startFaultServer(asked, {
    key: readFileSync(join(folder, 'key.pem'), 'utf8'),
    cert: readFileSync(caFile, 'utf8'),
  });
  onTestFinished(continuing.close);
  const proxy = await startProxy(continuing.port);
  vi.stubEnv('HTTPS_PROXY', proxy.url);
  for (const origin of [continuing.origin, 'https://service.test']) {
    const client = clientAt(origin, { caFile });
    await client.overview();
    expect(await client.createBackup()).toMatchObject({ outcome: 'accepted', value: { id: 5 } });
  }
  expect(continuing.requests).toHaveLength(4);
  expect(proxy.seen).toHaveLength(2);
});

test('through a proxy a broken answer is in doubt and not sent again', async () => {
  const breaking = await startFaultServer((_, socket) => socket.destroy(), {
    key: readFileSync(join(folder, 'key.pem'), 'utf8'),
    cert: readFileSync(caFile, 'utf8'),
  });
  onTestFinished(breaking.close);
  const proxy = await startProxy(breaking.port);
  vi.stubEnv('HTTPS_PROXY', proxy.url);
  const client = clientAt('https://service.test', { caFile });
  expect(await client.createBackup()).toMatchObject({
    outcome: 'unknown',
    failure: { code: 'service.reset' },
  });
  await breaking.quiet();
  expect(breaking.requests).toHaveLength(1);
  expect(proxy.seen).toHaveLength(1);
});

test('a proxy that refuses the tunnel, or does not exist, proves that nothing was sent', async () => {
  const proxy = await startProxy(tlsServer.port, true);
  vi.stubEnv('HTTPS_PROXY', proxy.url);
  const before = tlsServer.connections();
  const refused = await clientAt('https://service.test', { caFile }).createBackup();
  expect(refused).toMatchObject({ outcome: 'never-sent', failure: { code: 'service.unreachable' } });
  const gone = await startFaultServer(() => undefined);
  await gone.close();
  vi.stubEnv('HTTPS_PROXY', gone.origin);
  const absent = await clientAt('https://service.test', { caFile }).createBackup();
  expect(absent).toMatchObject({ outcome: 'never-sent', failure: { code: 'service.unreachable' } });
  expect(tlsServer.connections()).toBe(before);
});

test('a proxy that forwards plain HTTP has seen the request: its 502 leaves it in doubt', async () => {
  const proxy = await startProxy(tlsServer.port);
  vi.stubEnv('HTTP_PROXY', proxy.url);
  expect(await clientAt('http://service.test').createBackup()).toMatchObject({ outcome: 'unknown' });
  expect(proxy.seen).toEqual(['POST http://service.test/v1/instances/i1/backups']);
});

test('this machine is reached without the proxy', async () => {
  const local = await startFaultServer((_, socket) => socket.write(answer(200, '[]')));
  onTestFinished(local.close);
  vi.stubEnv('HTTP_PROXY', 'http://127.0.0.1:1');
  await expect(clientAt(local.origin).backups()).resolves.toMatchObject({ value: [] });
});

test('a proxy of another kind is refused, without its password', () => {
  for (const url of ['socks5://user:secret-word@h:1080', 'user:secret-word@h:99999']) {
    vi.stubEnv('HTTPS_PROXY', url);
    let thrown: unknown;
    try {
      clientAt('https://service.test');
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'config.proxy', exitCode: 2 });
    expect(String(thrown)).not.toContain('secret-word');
  }
});
