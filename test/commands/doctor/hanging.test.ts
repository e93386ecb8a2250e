import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { lookAtInstance } from '../../../src/commands/doctor/instance.ts';
import { parseConfig } from '../../../src/config/load.ts';

test('an instance that accepts a connection and never answers is reported after a timeout, with what to try', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const config = parseConfig(
    `instances:
  orders:
    url: http://127.0.0.1:${port}/service-instances/4a1f77e0-5c1b-4f0e-9c55-6d8a3e0f9b11
    token: { command: echo a-token-of-this-test }
`,
    '/srv/lifeboat.yaml',
  );
  const { checks } = await lookAtInstance(config, 'orders', undefined, 500);
  expect(checks).toEqual([
    {
      what: 'orders',
      state: 'bad',
      found: 'no answer within 0.5 s',
      hints: [
        'check the network path: try its url with curl from here',
        'what else it is asked for was not checked',
      ],
    },
  ]);
});

test('an address without TLS on another machine is reported, even if it does not answer', async () => {
  const config = parseConfig(
    `instances:
  orders:
    url: http://0.0.0.0:1/service-instances/4a1f77e0-5c1b-4f0e-9c55-6d8a3e0f9b11
    token: { command: echo a-token-of-this-test }
`,
    '/srv/lifeboat.yaml',
  );
  const { checks } = await lookAtInstance(config, 'orders', undefined, 500);
  expect(checks[0]).toMatchObject({
    what: 'orders: address',
    state: 'warn',
    found: 'http://0.0.0.0:1 is plain http: token and keys travel in the clear',
  });
});
