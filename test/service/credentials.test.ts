import { Agent } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import type { LifeboatError } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/secret.ts';
import type { CallOptions } from '../../src/service/call.ts';
import { authorise } from '../../src/service/interceptors.ts';
import { answer, type FaultServer, json, type Respond, startFaultServer } from './fault-server.ts';
import { rejection, serve, TOKEN_WORD } from './serve.ts';

test('a refused token is read again once, and only a new one is sent', async () => {
  const tokens = ['bearer old', 'bearer new'];
  const respond: Respond = (request, socket) =>
    socket.write(
      request.headers['authorization'] === 'bearer new' ? json(200, []) : json(401, { error: 'expired' }),
    );
  const { client, server } = await serve(respond, {
    token: async () => new Secret(tokens.shift() ?? 'bearer new'),
  });
  // Both are refused with the old token, and share the reading of the new one.
  await Promise.all([client.backups(), client.backups()]);
  expect(tokens).toEqual([]);
  expect(server.requests.filter((request) => request.headers['authorization'] === 'bearer new')).toHaveLength(
    2,
  );

  const other = await serve(respond, { token: async () => new Secret('bearer old') });
  expect(await rejection(other.client.backups())).toMatchObject({ code: 'credentials.refused', exitCode: 4 });
  expect(other.server.requests).toHaveLength(1);
});

test('without a token nothing is sent', async () => {
  const { client, server } = await serve((_, socket) => socket.write(json(200, [])), {
    token: () => Promise.reject(new Error(`keychain broke near ${TOKEN_WORD}`)),
  });
  await rejection(client.backups());
  expect(server.connections()).toBe(0);
});

async function redirected(location: (server: FaultServer) => string) {
  const target = await startFaultServer((_, socket) => socket.write(json(200, [])));
  onTestFinished(target.close);
  const { client, server } = await serve((request, socket) => {
    if (request.path.startsWith('/v1/')) socket.write(answer(302, '', { location: location(target) }));
    else socket.write(json(200, []));
  });
  return { target, client, server };
}

test('a token given with a request to another origin is not sent', async () => {
  const { server } = await serve((_, socket) => socket.write(json(200, [])));
  const agent = new Agent();
  onTestFinished(() => agent.destroy());
  const token = new Secret(`bearer ${TOKEN_WORD}`);
  for (const origin of ['https://service.example', server.origin]) {
    const options: CallOptions = { origin: server.origin, method: 'GET', path: '/', answer: 'whole', token };
    await (await agent.compose(authorise(origin)).request(options)).body.dump();
  }
  expect(server.requests.map((request) => request.headers['authorization'])).toEqual([
    undefined,
    `bearer ${TOKEN_WORD}`,
  ]);
});

test('a redirect inside the origin is followed with the token and its cookies', async () => {
  const { client, server } = await serve((request, socket) => {
    if (request.path === '/moved' && request.headers['cookie'] === 'session=s1') socket.write(json(200, []));
    else socket.write(answer(302, '', { location: '/moved', 'set-cookie': 'session=s1; Path=/; HttpOnly' }));
  });
  await client.backups();
  expect(server.requests.map((request) => [request.path, request.headers['authorization']])).toEqual([
    ['/v1/instances/i1/backups', `bearer ${TOKEN_WORD}`],
    ['/moved', `bearer ${TOKEN_WORD}`],
  ]);
});

test('a redirect to another origin is refused and nothing arrives there', async () => {
  const { client, target } = await redirected((server) => `${server.origin}/elsewhere`);
  const error = (await rejection(client.backups())) as LifeboatError;
  expect(error.code).toBe('service.redirect');
  expect(error.shortMessage).toBe(`the service redirects to another origin, 127.0.0.1:${target.port}`);
  expect(target.connections()).toBe(0);
});

for (const location of ['ftp://h/x', 'https://user:pw@h/x', '//', 'http://[']) {
  test(`a redirect to ${location} is refused`, async () => {
    const { client } = await redirected(() => location);
    expect(await rejection(client.backups())).toMatchObject({ code: 'service.redirect' });
  });
}

test('a redirect loop ends after five', async () => {
  const { client, server } = await serve((_, socket) =>
    socket.write(answer(307, '', { location: '/again' })),
  );
  expect(await rejection(client.backups())).toMatchObject({ code: 'service.redirect' });
  expect(server.requests).toHaveLength(6);
});
