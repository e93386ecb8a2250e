import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { LifeboatError } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/secret.ts';
import { openApi } from '../../src/platform/api/connection.ts';
import { makeCertificates } from '../faults/certificates.ts';
import { json, startFaultServer } from './fault-server.ts';
import { clientAt, rejection, serve } from './serve.ts';

const OVER = new LifeboatError('journal.lost-hold', 'the hold may have ended', {
  hints: ['nothing was sent'],
});

/**
 * Lets a call continue until the last check, which refuses: all earlier checks come before the connection.
 */
function leaveOnce() {
  let asked = 0;
  const mayLeave = () => {
    asked += 1;
    if (asked > 1) throw OVER;
  };
  return { signal: new AbortController().signal, mayLeave, asked: () => asked };
}

test('a call refused when its connection is ready sends not a byte, and is never retried', async () => {
  const { client, server } = await serve((_, socket) => socket.write(json(200, { id: 7 })));
  const leave = leaveOnce();
  expect(await client.createBackup(leave)).toMatchObject({
    outcome: 'never-sent',
    failure: { code: 'journal.lost-hold', hints: ['nothing was sent'] },
  });
  await server.quiet();
  expect([server.connections(), server.bytes(), leave.asked()]).toEqual([1, 0, 2]);
});

test('a call that is refused beforehand opens no connection', async () => {
  const { client, server } = await serve((_, socket) => socket.write(json(200, { id: 7 })));
  const leave = leaveOnce();
  expect(() => [leave.mayLeave(), leave.mayLeave()]).toThrow(OVER);
  expect(await client.createBackup(leave)).toMatchObject({ outcome: 'never-sent' });
  expect(server.connections()).toBe(0);
});

test('a permitted call with a body is sent whole, and checked once before and once at the first byte', async () => {
  const { client, server } = await serve((_, socket) => socket.write(json(200, { message: 'set' })));
  let asked = 0;
  const mayLeave = () => {
    asked += 1;
  };
  const leave = { signal: new AbortController().signal, mayLeave };
  const change = { encryption_key: new Secret('k'.repeat(200_000)) };
  expect(await client.changeBackupsConfig(change, leave)).toMatchObject({ outcome: 'accepted' });
  expect(JSON.parse(server.requests[0]?.body ?? '').encryption_key).toHaveLength(200_000);
  expect(asked).toBe(2);
});

test('through TLS, only the handshake is sent before the last instant', async () => {
  const { caFile, server } = await tlsServer();
  const leave = leaveOnce();
  expect(await clientAt(server.origin, { caFile }).createBackup(leave)).toMatchObject({
    outcome: 'never-sent',
    failure: { code: 'journal.lost-hold' },
  });
  await server.quiet();
  expect([leave.asked(), server.bytes()]).toEqual([2, 0]);
});

test.each([
  ['longer than its lease, sends nothing when it goes on', 3_000, 'never-sent'],
  ['less than its lease, sends its call when it goes on', 60_000, 'accepted'],
] as const)('a process that is stopped while it connects, for %s', async (_, leaseMs, outcome) => {
  const { caFile, server } = await tlsServer();
  const stopped = Promise.withResolvers<void>();
  // The handshake cannot end before this process passes it on: the sender is stopped in the middle of it.
  const between = createServer(async (socket) => {
    socket.on('error', () => undefined);
    const [hello] = await once(socket, 'data');
    child.kill('SIGSTOP');
    stopped.resolve();
    const upstream = connect(server.port, '127.0.0.1').on('error', () => undefined);
    upstream.write(hello);
    upstream.pipe(socket).pipe(upstream);
  });
  between.listen(0, '127.0.0.1');
  await once(between, 'listening');
  onTestFinished(() => void between.close());
  const origin = `https://127.0.0.1:${(between.address() as AddressInfo).port}`;
  const child = start(origin, caFile, leaseMs);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const until = BigInt((await lines.next()).value ?? 0);
  await stopped.promise;
  while (outcome === 'never-sent' && process.hrtime.bigint() < until) await pause(50);
  child.kill('SIGCONT');
  expect(JSON.parse((await lines.next()).value ?? '')).toEqual({
    outcome,
    ...(outcome === 'never-sent' && { code: 'journal.lost-hold' }),
  });
  await server.quiet();
  expect(server.bytes() > 0).toBe(outcome === 'accepted');
});

test('a change of the platform that may not be sent sends not a byte', async () => {
  const server = await startFaultServer((_, socket) => socket.write(json(201, {})));
  onTestFinished(server.close);
  const api = openApi({ api: server.origin, token: async () => new Secret('bearer t') });
  onTestFinished(() => api.close());
  const change = { method: 'DELETE', path: '/v3/service_credential_bindings/b1', ...leaveOnce() } as const;
  expect(await rejection(api.send(change))).toBe(OVER);
  await server.quiet();
  expect([server.connections(), server.bytes()]).toEqual([1, 0]);
});

async function tlsServer() {
  const { caFile, good, remove } = makeCertificates();
  onTestFinished(remove);
  const server = await startFaultServer((_, socket) => socket.write(json(200, { id: 7 })), good);
  onTestFinished(server.close);
  return { caFile, server };
}

function start(origin: string, caFile: string, leaseMs: number) {
  const script = join(import.meta.dirname, 'stopped-sender.ts');
  const child = spawn(process.execPath, [script, origin, caFile, String(leaseMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}
