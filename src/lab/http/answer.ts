import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Effect, effectOf, type StrangeReply, spoil, strangeReply, textReply } from '../faults.ts';
import { type FileReply, type JsonReply, jsonReply, type Reply } from './endpoint.ts';

export interface Delivery {
  readonly effects: readonly Effect[];
  /** Of the service's clock. */
  readonly now: () => Date;
  /** When the request came, in milliseconds of `performance.now()`. */
  readonly began: number;
  /** Whether the instance was taken away meanwhile. */
  readonly lost: () => boolean;
  readonly closing: AbortSignal;
}

/**
 * Writes a reply, spoiled by the effects. Uses Node's response, because a `Response` cannot break off in the
 * middle. Resolves when nothing is left to write, also after the client has gone.
 */
export async function answer(
  env: HttpBindings,
  reply: Reply | StrangeReply,
  delivery: Delivery,
): Promise<Response> {
  // The router may have ended the request meanwhile.
  if (env.outgoing.headersSent) return RESPONSE_ALREADY_SENT;
  if ('kind' in reply && reply.kind === 'file') await sendFile(env, reply, delivery);
  else await sendText(env, reply, delivery);
  return RESPONSE_ALREADY_SENT;
}

/** Ends the connection without an answer; `reset` makes the kernel say so at once (RST). */
export function drop({ incoming }: HttpBindings, how: 'end' | 'reset' = 'end'): Response {
  if (how === 'reset') incoming.socket.resetAndDestroy();
  else incoming.socket.destroy();
  return RESPONSE_ALREADY_SENT;
}

export function garble(reply: Reply, effects: readonly Effect[]): Reply | StrangeReply {
  const how = effectOf(effects, 'garble')?.body;
  switch (how) {
    case undefined:
    case 'truncated':
      return reply;
    case 'html':
    case 'empty':
      return strangeReply(reply.status, how);
    case 'text':
      return textReply(reply.status);
    case 'no-content':
      return { status: 204, headers: {}, text: '' };
    default:
      return reply.kind === 'json' ? { ...reply, ...jsonReply(reply.status, spoil(reply.json, how)) } : reply;
  }
}

async function sendText(
  { incoming, outgoing }: HttpBindings,
  reply: JsonReply | StrangeReply,
  delivery: Delivery,
): Promise<void> {
  const limit = effectOf(delivery.effects, 'abort');
  if (limit !== undefined) {
    await untilLimit(limit.ms, outgoing, delivery);
    incoming.socket.destroy();
    return;
  }
  const isJson = 'kind' in reply;
  const bytes = Buffer.from(isJson ? JSON.stringify(reply.json) : reply.text);
  const headers = isJson ? { 'content-type': 'application/json', ...reply.headers } : reply.headers;
  writeHead(outgoing, { status: reply.status, headers, size: bytes.length }, delivery);
  if (isCut(delivery)) {
    outgoing.write(bytes.subarray(0, Math.floor(bytes.length / 2)));
    endHere(outgoing);
  } else outgoing.end(bytes);
}

async function sendFile(
  { incoming, outgoing }: HttpBindings,
  file: FileReply,
  delivery: Delivery,
): Promise<void> {
  writeHead(outgoing, file, delivery);
  if (incoming.method === 'HEAD') {
    outgoing.end();
    return;
  }
  outgoing.flushHeaders();
  const limit = effectOf(delivery.effects, 'abort');
  const cut = isCut(delivery);
  const end = cut ? Math.floor(file.size / 2) : file.size - (limit === undefined ? 0 : 1);
  const over = limitOf(delivery, limit?.ms);
  try {
    await pipeline(file.open(end), conveyor(delivery, over.signal), outgoing, {
      end: false,
      signal: over.signal,
    });
    if (limit !== undefined) {
      await untilLimit(limit.ms, outgoing, delivery);
      incoming.socket.destroy();
    } else if (cut) endHere(outgoing);
    else outgoing.end();
  } catch {
    // The client has gone, the limit is reached or the bytes cannot be read: the answer breaks off.
    outgoing.destroy();
  } finally {
    over.release();
  }
}

type Outgoing = HttpBindings['outgoing'];

function writeHead(
  outgoing: Outgoing,
  { status, headers, size }: Pick<FileReply, 'status' | 'headers' | 'size'>,
  { effects, now }: Delivery,
): void {
  const skewMs = effectOf(effects, 'date')?.skewMs ?? 0;
  outgoing.writeHead(status, {
    ...headers,
    date: new Date(now().getTime() + skewMs).toUTCString(),
    // RFC 9110, 8.6: never with 204.
    ...(status === 204 ? {} : { 'content-length': size }),
  });
}

function isCut({ effects }: Delivery): boolean {
  return effectOf(effects, 'garble')?.body === 'truncated';
}

/** Delivers the bytes written so far, and no more. */
function endHere(outgoing: Outgoing): void {
  outgoing.socket?.destroySoon();
}

/** Resolves at the limit, or earlier if the client goes or the lab ends. */
async function untilLimit(ms: number, outgoing: Outgoing, { began, closing }: Delivery): Promise<void> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  outgoing.once('close', leave);
  const left = Math.max(0, began + ms - performance.now());
  const signal = AbortSignal.any([closing, gone.signal]);
  await pause(left, undefined, { signal, ref: false }).catch(() => undefined);
  outgoing.off('close', leave);
}

/** Aborts at the limit, or when the lab ends. */
function limitOf({ began, closing }: Delivery, ms: number | undefined) {
  if (ms === undefined) return { signal: closing, release: () => undefined };
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), Math.max(0, began + ms - performance.now())).unref();
  return { signal: AbortSignal.any([closing, over.signal]), release: () => clearTimeout(timer) };
}

/** Passes bytes on until the instance is lost, at a limited rate, in ten portions a second. */
function conveyor({ effects, lost }: Delivery, signal: AbortSignal) {
  const bytesPerSecond = effectOf(effects, 'slow')?.bytesPerSecond ?? Number.POSITIVE_INFINITY;
  const helping = Math.max(1, Math.floor(bytesPerSecond / 10));
  return async function* (source: AsyncIterable<Buffer>) {
    for await (const bytes of source) {
      for (let at = 0; at < bytes.length; at += helping) {
        if (lost()) throw new Error('the instance is lost');
        const part = bytes.subarray(at, at + helping);
        yield part;
        const rest = (part.length / bytesPerSecond) * 1000;
        if (rest > 0) await pause(rest, undefined, { signal, ref: false });
      }
    }
  };
}

/** A timer takes 31 bits. */
const LONGEST = 2 ** 31 - 1;

/**
 * Ends a request after `ms` as the platform's router does (section 8): with 504 before the headers of the
 * answer, else in the middle of it. The service behind the router works on.
 */
export async function withinLimit(
  ms: number,
  { incoming, outgoing }: HttpBindings,
  answer: Response | Promise<Response>,
): Promise<Response> {
  const over = Promise.withResolvers<Response>();
  const timer = setTimeout(
    () => {
      if (outgoing.headersSent) incoming.socket.destroy();
      else {
        const { status, headers, text } = strangeReply(504, 'html', {
          'x-cf-routererror': 'endpoint_failure',
        });
        outgoing.writeHead(status, { ...headers, connection: 'close' }).end(text);
      }
      over.resolve(RESPONSE_ALREADY_SENT);
    },
    Math.min(ms, LONGEST),
  );
  outgoing.once('close', () => clearTimeout(timer));
  return await Promise.race([answer, over.promise]);
}
