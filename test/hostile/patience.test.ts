import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { json } from '../service/fault-server.ts';
import { rejection, serve } from '../service/serve.ts';
import { count } from './figures.ts';

/**
 * The limits of a client, shortened: what is bounded in a third of a second here is bounded in minutes there.
 */
const LIMITS = { headersMs: 100, bodyMs: 100, readMs: 300, sendMs: 300, retryBaseMs: 10, attempts: 4 };

const WHOLE = json(200, [{ id: 1, status: 'done' }]);
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n';

/** What is written every few milliseconds while the client listens, after `first`. */
const DRIPS: Readonly<Record<string, { readonly first?: string; readonly drop: (at: number) => string }>> = {
  'nothing at all': { drop: () => '' },
  'a status line, a byte at a time': { drop: (at) => 'HTTP/1.1 200 O'[at] ?? 'K' },
  'a whole answer, a byte at a time': { drop: (at) => WHOLE[at] ?? '' },
  'headers that never end, slowly': { first: 'HTTP/1.1 200 OK\r\n', drop: (at) => `x-${at}: 1\r\n` },
  'one header that never ends, slowly': { first: 'HTTP/1.1 200 OK\r\nx: ', drop: () => 'y' },
  'a body, a byte at a time': { first: HEAD, drop: (at) => (at === 0 ? '[' : ' ') },
  'chunks of a byte': {
    first: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
    drop: () => '1\r\n \r\n',
  },
  'a chunk extension that never ends': {
    first: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;x=',
    drop: () => 'y',
  },
  'trailers that never end': {
    first: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n',
    drop: (at) => `x-${at}: 1\r\n`,
  },
  'an error, a byte at a time': { first: HEAD.replace('200', '503'), drop: () => 'x' },
  'a hundred continues a second, for ever': { drop: () => 'HTTP/1.1 100 Continue\r\n\r\n' },
  'early hints for ever': { drop: (at) => `HTTP/1.1 103 Early Hints\r\nlink: </${at}>\r\n\r\n` },
  'processing for ever': { drop: () => 'HTTP/1.1 102 Processing\r\n\r\n' },
  'an unknown 1xx for ever': { drop: () => 'HTTP/1.1 199 Soon\r\n\r\n' },
  'another protocol': {
    drop: () => 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
  },
};

function dripInto(
  socket: Socket,
  { first, drop }: { readonly first?: string; readonly drop: (at: number) => string },
) {
  let at = 0;
  if (first !== undefined) socket.write(first);
  const timer = setInterval(() => {
    if (!socket.destroyed) socket.write(drop(at++));
  }, 10);
  socket.once('close', () => clearInterval(timer));
}

describe('a service that never finishes an answer', () => {
  test.for(Object.entries(DRIPS))('is abandoned after a time: %s', async ([, drip]) => {
    const { server, client } = await serve((_, socket) => dripInto(socket, drip), { limits: LIMITS });
    const thrown = await rejection(client.backups());
    expect(thrown).toMatchObject({ name: 'LifeboatError' });

    const { outcome } = await client.createBackup();
    // A status of its own is an answer, however long its words take.
    expect(['unknown', 'accepted']).toContain(outcome);
    // The last try of the read may arrive after its time was over, and on a busy machine the call may not.
    const changing = server.requests.filter(({ method }) => method !== 'GET');
    expect(changing.length).toBeLessThanOrEqual(1);
    count('patience', { 'ways to answer for ever': 1, 'calls that ended in their time': 2 });
  });
});
