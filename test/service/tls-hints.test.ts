import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer as createPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { clientAt, rejection } from './serve.ts';

const folder = mkdtempSync(join(tmpdir(), 'lifeboat-tls-'));
const file = (name: string) => join(folder, name);
const text = (name: string) => readFileSync(file(name), 'utf8');

beforeAll(() => {
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  const csr = ['-subj', '/CN=service.test', '-keyout', file('key.pem'), '-out', file('csr.pem')];
  openssl('req', '-newkey', 'rsa:2048', '-nodes', ...csr);
  const certificate = (name: string, days: string, names: string) => {
    writeFileSync(file('names'), `subjectAltName=${names}`);
    const out = ['-extfile', file('names'), '-out', file(name)];
    openssl('x509', '-req', '-in', file('csr.pem'), '-signkey', file('key.pem'), '-days', days, ...out);
  };
  certificate('good.pem', '2', 'IP:127.0.0.1');
  certificate('expired.pem', '-1', 'IP:127.0.0.1');
  certificate('other.pem', '2', 'DNS:other.test');
});
afterAll(() => rmSync(folder, { recursive: true }));

const OLD = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;

test.each([
  ['that has expired', 'expired.pem', {}, 'expired.pem', 'the certificate has expired'],
  ['for another name', 'other.pem', {}, 'other.pem', 'check the host name in the url'],
  ['behind TLS 1.1', 'good.pem', OLD, 'good.pem', 'has to offer TLS 1.2'],
  ['of an authority that is not known', 'good.pem', {}, undefined, 'set `ca`'],
])('a certificate %s has its own hint', async (_, cert, more, ca, hint) => {
  const server = createServer({ key: text('key.pem'), cert: text(cert), ...more });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expectHint(origin, ca === undefined ? undefined : file(ca), hint);
});

test('a port that speaks no TLS has its own hint', async () => {
  const deaf = createPlain((socket) => socket.on('error', () => undefined).end('HTTP/1.1 400 No'));
  await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void deaf.close());
  await expectHint(`https://127.0.0.1:${(deaf.address() as AddressInfo).port}`, undefined, 'speaks no TLS');
});

/** Expects the hint for this cause and no other. */
async function expectHint(origin: string, caFile: string | undefined, hint: string): Promise<void> {
  const error = (await rejection(clientAt(origin, { caFile }).overview())) as { hints: readonly string[] };
  expect(error).toMatchObject({ code: 'service.unreachable', hints: expect.anything() });
  expect(error.hints.join('\n')).toContain(hint);
  expect(error.hints.some((one) => one.includes('set `ca`'))).toBe(hint.includes('`ca`'));
}
