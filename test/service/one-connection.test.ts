import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { buildConnector, Client } from 'undici';
import { afterEach, expect, test } from 'vitest';
import { oneConnection } from '../../src/service/send-once.ts';

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

async function listen(onSocket: (socket: Socket) => void) {
  const server = createServer(onSocket).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a client that would connect again gets no second connection', async () => {
  let connections = 0;
  const origin = await listen((socket) => {
    connections += 1;
    socket
      .on('error', () => undefined)
      .on('data', () => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'));
  });
  const gate = oneConnection();
  const client = new Client(origin, { connect: gate.wrap(buildConnector({})) });
  cleanups.push(() => client.destroy());
  await client.request({ method: 'POST', path: '/' });
  await expect(client.request({ method: 'POST', path: '/' })).rejects.toMatchObject({
    code: 'LIFEBOAT_ONE_CONNECTION',
  });
  expect(connections).toBe(1);
  expect(gate.neverHandedOut()).toBe(false);
});

test('a connection that opens after the seal is destroyed unused', async () => {
  const bytes: string[] = [];
  const closed = Promise.withResolvers<void>();
  const origin = await listen((socket) => {
    socket.on('error', () => undefined).on('data', (chunk) => bytes.push(String(chunk)));
    socket.on('close', () => closed.resolve());
  });
  const gate = oneConnection();
  const connect = buildConnector({});
  const client = new Client(origin, {
    connect: gate.wrap((options, callback) => {
      connect(options, (...result) => {
        gate.seal();
        callback(...result);
      });
    }),
  });
  cleanups.push(() => client.destroy());
  await expect(client.request({ method: 'POST', path: '/' })).rejects.toMatchObject({
    code: 'LIFEBOAT_ONE_CONNECTION',
  });
  await closed.promise;
  expect(bytes).toEqual([]);
  expect(gate.neverHandedOut()).toBe(true);
});

test('a gate that was never asked proves nothing', () => {
  const gate = oneConnection();
  gate.seal();
  expect(gate.neverHandedOut()).toBe(false);
});
