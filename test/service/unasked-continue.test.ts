import type { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { send } from '../../src/notify/send.ts';
import { openApi } from '../../src/platform/api/connection.ts';
import { Organization } from '../../src/platform/capi/schemas.ts';
import { answer, json, startFaultServer } from './fault-server.ts';
import { clientAt, TOKEN_WORD } from './serve.ts';

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </100>; rel=preload\r\n\r\n';

/** The bytes before an answer, in the pieces in which they arrive. */
const BEFORE: Readonly<Record<string, readonly string[]>> = {
  'a 100': [CONTINUE],
  'a 100 with fields': ['HTTP/1.1 100 Continue\r\ndate: today\r\ncontent-length: 0\r\n\r\n'],
  'a 100 of HTTP/1.0 without words': ['HTTP/1.0 100\r\n\r\n'],
  'two 100s': [CONTINUE + CONTINUE],
  'a 103': [HINTS],
  'a 103 between two 100s': [CONTINUE, HINTS, CONTINUE],
  'a 100 byte by byte': [...CONTINUE],
  'a 103 and a 100 byte by byte': [...HINTS, ...CONTINUE],
};

test.each(Object.entries(BEFORE))(
  '%s before an answer is skipped: by reads, changes, webhooks and the platform',
  async (_, pieces) => {
    const server = await startFaultServer(({ method, path }, socket) => {
      let last = method === 'POST' ? json(200, { id: 5, message: 'queued' }) : json(200, []);
      if (path === '/hook') last = answer(204, '');
      else if (path === '/v3/info') last = json(200, { guid: 'g-1', name: 'HTTP/1.1 100 Continue' });
      else if (path.startsWith('/v3/')) last = json(202, {}, { location: '/v3/jobs/job-1' });
      writeAll(socket, [...pieces, last]);
    });
    onTestFinished(server.close);
    const signal = AbortSignal.timeout(10_000);

    const client = clientAt(server.origin);
    // The second read uses the connection of the first.
    await expect(client.backups()).resolves.toMatchObject({ value: [] });
    await expect(client.restores()).resolves.toMatchObject({ value: [] });
    expect(await client.createBackup()).toMatchObject({ outcome: 'accepted', value: { id: 5 } });
    const target = { name: 'hook', on: [], url: `${server.origin}/hook`, headers: {}, hideEnv: [] };
    expect(await send(target as never, '{}', signal)).toMatchObject({ outcome: 'delivered', status: 204 });
    const api = openApi({ api: server.origin, token: async () => new Secret(`bearer ${TOKEN_WORD}`) });
    onTestFinished(api.close);
    await expect(api.get('/v3/info', Organization, signal)).resolves.toMatchObject({
      value: { name: 'HTTP/1.1 100 Continue' },
    });
    expect(
      await api.send({ method: 'DELETE', path: '/v3/x', signal, mayLeave: () => undefined }),
    ).toMatchObject({ outcome: 'accepted', job: 'job-1' });
    expect(server.requests).toHaveLength(6);
  },
);

/** Writes each piece after the one before it was sent. */
function writeAll(socket: Socket, [piece, ...rest]: readonly string[]): void {
  if (piece !== undefined) socket.write(piece, () => writeAll(socket, rest));
}
