import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** Bytes. A head may have 16 KiB of fields, and interim answers before it. */
const MOST = 1024 * 1024;
const LOOK_MS = 25;

interface Waiting {
  readonly socket: Socket;
  /** What had come over the connection when the request went out. */
  readonly from: number;
}

const waiting = new Map<unknown, Waiting>();
let timer: NodeJS.Timeout | undefined;

/**
 * Ends every connection of this process on which more than 1 MiB has come and the head of the answer is not
 * whole: undici counts the fields of a head and the bytes of a body, but not those of a status line or of
 * interim answers, and would take in whatever comes until the time for headers is over. The request fails as
 * one whose connection was reset. Call it once.
 */
export function endEndlessHeads(): void {
  channel('undici:client:sendHeaders').subscribe((message) => {
    const { request, socket } = message as { readonly request: unknown; readonly socket: Socket };
    waiting.set(request, { socket, from: socket.bytesRead });
    timer ??= setInterval(look, LOOK_MS).unref();
  });
  for (const name of ['undici:request:headers', 'undici:request:error'])
    channel(name).subscribe((message) => forget((message as { readonly request: unknown }).request));
}

function look(): void {
  for (const [request, { socket, from }] of waiting) {
    if (socket.bytesRead - from > MOST) socket.destroy(new Error('the head of the answer has no end'));
    if (socket.destroyed) forget(request);
  }
}

function forget(request: unknown): void {
  waiting.delete(request);
  if (waiting.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}
