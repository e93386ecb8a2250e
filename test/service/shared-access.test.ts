import { expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { addressFrom } from '../../src/service/address.ts';
import { openService } from '../../src/service/open.ts';
import { openSharedAccess } from '../../src/service/shared-access.ts';
import type { TokenReader } from '../../src/service/token-source.ts';
import { json, type Respond, startFaultServer } from './fault-server.ts';
import { rejection } from './serve.ts';

/** A server, and clients of its instances that share one access. */
async function world(respond: Respond) {
  const server = await startFaultServer(respond);
  onTestFinished(server.close);
  const access = openSharedAccess();
  onTestFinished(access.close);
  let readings = 0;
  const count: TokenReader = async () => {
    readings += 1;
    return new Secret(`bearer token-number-${readings}`);
  };
  const client = (id: string, { token = count, source = 'file' } = {}) => {
    const address = addressFrom(`${server.origin}/service-instances/${id}`, 62);
    const opened = openService(address, {
      token,
      shared: { access, source },
      limits: { retryBaseMs: 5 },
    });
    onTestFinished(opened.close);
    return opened;
  };
  return { server, access, client, readings: () => readings };
}

test('instances that are asked one after another share connections and a single read of their token', async () => {
  const { server, client, readings } = await world((_, socket) => socket.write(json(200, [])));
  for (let at = 0; at < 20; at += 1) {
    const one = client(`i${at}`);
    await one.backups();
    await one.close();
  }
  expect(server.requests).toHaveLength(20);
  // The next request may begin before the connection of the last is free.
  expect(server.connections()).toBeLessThanOrEqual(2);
  expect(readings()).toBe(1);
});

test('a token goes only to the instances whose config names its source', async () => {
  const { server, client } = await world((_, socket) => socket.write(json(200, [])));
  await client('i1').backups();
  await client('i2', { source: 'other', token: async () => new Secret('bearer another') }).backups();
  expect(server.requests.map(({ path, headers }) => [path.includes('i1'), headers['authorization']])).toEqual(
    [
      [true, 'bearer token-number-1'],
      [false, 'bearer another'],
    ],
  );
});

test('a refused token is read again, once for all instances', async () => {
  const { client, readings } = await world(({ headers }, socket) =>
    socket.write(headers['authorization'] === 'bearer token-number-2' ? json(200, []) : json(401, {})),
  );
  const both = [client('i1'), client('i2')];
  await Promise.all(both.map((one) => one.backups()));
  await client('i3').backups();
  expect(readings()).toBe(2);
});

test('a client that is closed ends its own reads, and no read of another', async () => {
  const late = Promise.withResolvers<void>();
  const { server, client } = await world(({ path }, socket) => {
    if (path.includes('i2')) void late.promise.then(() => socket.write(json(200, [])));
  });
  const [one, other] = [client('i1'), client('i2')];
  const [ended, goesOn] = [rejection(one.backups()), other.backups()];
  await expect.poll(() => server.requests.length).toBe(2);
  await one.close();
  expect(await ended).toMatchObject({ code: 'service.stopped' });
  late.resolve();
  expect((await goesOn).value).toEqual([]);
});

test('closing what is shared drops every connection', async () => {
  const { server, access, client } = await world((_, socket) => socket.write(json(200, [])));
  await client('i1').backups();
  await access.close();
  await server.quiet();
});
