import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Effect } from '../faults.ts';
import { type FileReply, jsonReply, type Reply } from './endpoint.ts';

/**
 * Writes a reply to the connection, spoiled as the effects say. It goes to Node's response itself, because a reply that
 * breaks off in the middle has no form in a `Response`.
 */
export async function answer(
  { outgoing }: HttpBindings,
  reply: Reply,
  effects: readonly Effect[] = [],
): Promise<Response> {
  const { body, size, headers } = contentOf(reply, effects);
  outgoing.writeHead(reply.status, { ...headers, 'content-length': size });
  outgoing.flushHeaders();
  const slow = effects.find((effect) => effect.kind === 'slow');
  try {
    if (slow === undefined) await pipeline(body, outgoing, { end: false });
    else await pipeline(body, throttle(slow.bytesPerSecond), outgoing, { end: false });
    // The bytes written so far reach the client; the rest never comes.
    if (isTruncated(effects)) outgoing.socket?.destroySoon();
    else outgoing.end();
  } catch {
    // The client has gone; nobody is left to tell.
    outgoing.destroy();
  }
  return RESPONSE_ALREADY_SENT;
}

/** Ends the connection without an answer. */
export function drop({ incoming }: HttpBindings): Response {
  incoming.socket.destroy();
  return RESPONSE_ALREADY_SENT;
}

/** What a router says in the service's place. */
export function strangeReply(status: number, body: 'json' | 'html' | 'empty'): Reply {
  if (body === 'json') {
    return jsonReply(status, { error: 'upstreamError', description: 'error in upstream communication' });
  }
  return textReply(status, body === 'html' ? 'text/html' : 'text/plain', body === 'html' ? ROUTER_PAGE : '');
}

/** The reply with its content replaced. */
export function garble(reply: Reply, effects: readonly Effect[]): Reply {
  const spoiled = effects.find((effect) => effect.kind === 'garble');
  if (spoiled === undefined || spoiled.body === 'truncated') return reply;
  return strangeReply(reply.status, spoiled.body);
}

const ROUTER_PAGE = '<html><body><h1>502 Bad Gateway</h1>the registered endpoint failed</body></html>\n';

function textReply(status: number, type: string, text: string): FileReply {
  const bytes = Buffer.from(text);
  return {
    kind: 'file',
    status,
    headers: { 'content-type': type },
    size: bytes.length,
    open: (end) => Readable.from([bytes.subarray(0, end)]),
  };
}

function contentOf(reply: Reply, effects: readonly Effect[]) {
  const file =
    reply.kind === 'json' ? textReply(reply.status, 'application/json', JSON.stringify(reply.json)) : reply;
  const end = isTruncated(effects) ? Math.floor(file.size / 2) : file.size;
  return { body: file.open(end), size: file.size, headers: file.headers };
}

function isTruncated(effects: readonly Effect[]): boolean {
  return effects.some((effect) => effect.kind === 'garble' && effect.body === 'truncated');
}

/** Lets so many bytes through in a second, in ten helpings. */
function throttle(bytesPerSecond: number) {
  const helping = Math.max(1, Math.floor(bytesPerSecond / 10));
  return async function* (source: AsyncIterable<Buffer>) {
    for await (const bytes of source) {
      for (let at = 0; at < bytes.length; at += helping) {
        const part = bytes.subarray(at, at + helping);
        yield part;
        await pause((part.length / bytesPerSecond) * 1000);
      }
    }
  };
}
