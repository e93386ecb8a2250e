import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { gateOf } from '../../src/commands/serve/gate-of.ts';
import { type Certificates, makeCertificates } from '../faults/certificates.ts';
import { json, startFaultServer } from '../service/fault-server.ts';

const ISSUER = 'https://proxy.example.org';
const AUDIENCE = 'dr.example.org';
const MINUTE = 60_000;

let certificates: Certificates;
let keys: Awaited<ReturnType<typeof generateKeyPair>>;

beforeAll(async () => {
  certificates = makeCertificates();
  keys = await generateKeyPair('ES256', { extractable: true });
});
afterAll(() => certificates.remove());
afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

/** The keys of a proxy that signs; with `status.is` another one, that is all that it answers. */
async function startKeys(identity = certificates.good) {
  const set = { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256' }] };
  const status = { is: 200 };
  const server = await startFaultServer((_, socket) => socket.write(json(status.is, set)), identity);
  onTestFinished(server.close);
  return { ...server, status };
}

/** Who asks, by the config that has these keys; what was warned of. */
async function lookers(jwksUrl: string, ca?: string) {
  const warned: string[] = [];
  const jwt = { header: 'X-Jwt', issuer: ISSUER, audience: AUDIENCE, jwksUrl, ...(ca && { ca }) };
  const config = { listen: '127.0.0.1:1', hosts: [], trustedProxies: ['127.0.0.1'], names: 'shown' as const };
  const gate = await gateOf(
    { ...config, identity: { jwt } },
    { kind: 'address', host: '127.0.0.1', port: 1 },
    (text) => void warned.push(text),
  );
  const token = async () =>
    new SignJWT({ email: 'ada@example.org' })
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE)
      .setExpirationTime(Math.floor(Date.now() / 1000) + 60)
      .sign(keys.privateKey);
  return {
    warned,
    async asks() {
      const text = await token();
      return gate.proxies?.identify((name: string) => (name === 'X-Jwt' ? text : undefined));
    },
  };
}

async function startProxy(port: number) {
  const seen: string[] = [];
  const server = createServer().on('connect', (request, socket) => {
    seen.push(`CONNECT ${request.url}`);
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    const upstream = connect(port, '127.0.0.1');
    upstream.pipe(socket).pipe(upstream);
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

test('keys are fetched through the proxy of the environment, from a server that the ca file vouches for', async () => {
  const server = await startKeys(certificates.wrongHost);
  const proxy = await startProxy(server.port);
  vi.stubEnv('HTTPS_PROXY', proxy.url);
  const { asks, warned } = await lookers('https://elsewhere.example/keys', certificates.caFile);
  expect(await asks()).toEqual({ person: 'ada@example.org' });
  expect(await asks()).toEqual({ person: 'ada@example.org' });
  expect([proxy.seen, server.requests.length, warned]).toEqual([['CONNECT elsewhere.example:443'], 1, []]);
});

test('without the ca file nobody is admitted, and both the answer and a warning give the reason', async () => {
  const server = await startKeys();
  const { asks, warned } = await lookers(`${server.origin}/keys`);
  const why = expect.stringContaining(
    `the proxy's public keys cannot be fetched: no trusted TLS connection to the server ${new URL(server.origin).host}`,
  );
  expect(await asks()).toEqual({ status: 401, why });
  expect(await asks()).toEqual({ status: 401, why });
  expect(warned).toEqual([why]);
  expect(server.requests).toHaveLength(0);
});

test('while keys cannot be fetched again, those of the last day are used, and none after that', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const server = await startKeys();
  const { asks, warned } = await lookers(`${server.origin}/keys`, certificates.caFile);
  expect(await asks()).toEqual({ person: 'ada@example.org' });
  server.status.is = 503;
  vi.setSystemTime(Date.now() + 11 * MINUTE);
  expect(await asks()).toEqual({ person: 'ada@example.org' });
  expect(await asks()).toEqual({ person: 'ada@example.org' });
  expect(server.requests).toHaveLength(2);
  expect(warned).toEqual([expect.stringMatching(/it answers 503; those fetched before still count$/u)]);
  vi.setSystemTime(Date.now() + 24 * 60 * MINUTE);
  expect(await asks()).toMatchObject({ status: 401, why: expect.stringContaining('it answers 503') });
  server.status.is = 200;
  vi.setSystemTime(Date.now() + MINUTE);
  expect(await asks()).toEqual({ person: 'ada@example.org' });
});
