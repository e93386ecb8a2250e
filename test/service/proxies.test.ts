import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { proxyFor, unreadNetworks } from '../../src/service/proxies.ts';
import { startFaultServer } from './fault-server.ts';
import { clientAt, rejection } from './serve.ts';

const HTTPS = 'https://service.example.com';
const P = 'http://proxy.example.com:3128';
const Q = 'http://other.example.com:3128';

test.each<[what: string, env: Record<string, string>, origin: string, proxy: string | undefined]>([
  ['none is set', {}, HTTPS, undefined],
  ['https in lower case', { https_proxy: P, HTTPS_PROXY: Q }, HTTPS, P],
  ['an empty variable hides none', { https_proxy: '', HTTPS_PROXY: P }, HTTPS, P],
  ['a blank variable hides none', { https_proxy: ' ', HTTPS_PROXY: P }, HTTPS, P],
  ['that of http serves no https', { http_proxy: P, HTTP_PROXY: P }, HTTPS, undefined],
  ['that of https serves no http', { HTTPS_PROXY: P }, 'http://service.example.com', undefined],
  ['http in upper case, as cf takes it', { HTTP_PROXY: P }, 'http://service.example.com', P],
  ['one for all, as curl takes it', { ALL_PROXY: P }, HTTPS, P],
  ['the particular one before the one for all', { ALL_PROXY: P, HTTPS_PROXY: Q }, HTTPS, Q],
  ['without a scheme', { HTTPS_PROXY: 'proxy.example.com:3128' }, HTTPS, P],
  ['this machine', { HTTP_PROXY: P, HTTPS_PROXY: P }, 'http://127.0.0.1:8080', undefined],
])('a proxy from the environment: %s', (_, env, origin, proxy) => {
  expect(proxyFor(origin, env)?.shown).toBe(proxy);
});

test.each<[noProxy: string, origin: string, isDirect: boolean]>([
  ['service.example.com', HTTPS, true],
  ['example.com', HTTPS, true],
  ['.example.com', HTTPS, true],
  ['.service.example.com', HTTPS, true],
  ['*.example.com', HTTPS, true],
  ['*.service.example.com', HTTPS, false],
  ['vice.example.com', HTTPS, false],
  ['EXAMPLE.com.', HTTPS, true],
  ['example.com', 'https://service.example.com.', true],
  ['*', HTTPS, true],
  ['elsewhere.test, *', HTTPS, true],
  ['elsewhere.test  example.com', HTTPS, true],
  ['example.com:443', HTTPS, true],
  ['example.com:8443', HTTPS, false],
  ['192.0.2.0/24', 'https://192.0.2.77', true],
  ['192.0.2.0/24', 'https://192.0.3.77', false],
  ['192.0.2.0/24', HTTPS, false],
  ['192.0.2.77', 'https://192.0.2.77:8443', true],
  ['192.0.2.77:443', 'https://192.0.2.77:8443', false],
  ['192.0.2.7', 'https://192.0.2.77', false],
  ['2001:db8::/32', 'https://[2001:db8::1]', true],
  ['2001:db8::/32', 'https://[2001:db9::1]', false],
  ['[2001:db8::1]:443', 'https://[2001:db8::1]', true],
  ['2001:db8:0::1', 'https://[2001:db8::1]', true],
  ['192.0.2.0/99', 'https://192.0.2.77', false],
  [',', HTTPS, false],
])('NO_PROXY=%s decides about %s', (NO_PROXY, origin, isDirect) => {
  expect(proxyFor(origin, { HTTPS_PROXY: P, NO_PROXY }) === undefined).toBe(isDirect);
  expect(proxyFor(origin, { HTTPS_PROXY: P, no_proxy: '', NO_PROXY }) === undefined).toBe(isDirect);
});

test('network settings that cannot be read are reported', () => {
  expect(unreadNetworks({ NO_PROXY: '10.0.0.0/8,192.0.2.0/99,example.com/8,example.com' })).toEqual([
    '192.0.2.0/99',
    'example.com/8',
  ]);
});

test('a proxy that does not exist, or refuses, is named by reads and changes, without its password', async () => {
  const gone = await startFaultServer(() => undefined);
  await gone.close();
  const refusing = createServer().on('connect', (_, socket) =>
    socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'),
  );
  await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void refusing.close());
  const refuses = `127.0.0.1:${(refusing.address() as AddressInfo).port}`;
  const cases = [
    [
      `127.0.0.1:${gone.port}`,
      `the proxy http://127.0.0.1:${gone.port} refuses the connection (ECONNREFUSED)`,
    ],
    ['proxy.invalid:3128', 'the name of the proxy http://proxy.invalid:3128 cannot be resolved'],
    [refuses, `the proxy http://${refuses} does not let the request through (it answers 407)`],
  ] as const;
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const [host, words] of cases) {
    vi.stubEnv('HTTPS_PROXY', `http://ada:secret-word@${host}`);
    const client = clientAt(HTTPS);
    const read = await rejection(client.overview());
    const sent = await client.createBackup();
    expect(read).toMatchObject({ code: 'service.unreachable', shortMessage: expect.stringContaining(words) });
    expect(sent).toMatchObject({
      outcome: 'never-sent',
      failure: { shortMessage: expect.stringContaining(words) },
    });
    expect(JSON.stringify([read, sent])).not.toContain('secret-word');
    expect(read).toMatchObject({
      hints: expect.arrayContaining([expect.stringContaining('HTTPS_PROXY names it')]),
    });
  }
});
