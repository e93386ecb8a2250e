import type { Socket } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';
import type { Secret } from '../base/secret.ts';
import { type CallOptions, jsonHeaders } from './call.ts';
import { authorise, listen, type Tap } from './interceptors.ts';
import type { Limits } from './limits.ts';
import type { Network } from './network.ts';
import { orAbort } from './reader.ts';

export type SentOnce<T> =
  | { readonly read: T }
  /** The reason; not a byte was sent. */
  | { readonly refused: unknown }
  /** `unmade`: there never was a connection, so nothing was sent. */
  | { readonly broke: unknown; readonly unmade: boolean };

interface Way {
  readonly network: Network;
  readonly origin: string;
  readonly tap: Tap | undefined;
  /** Called before, and again at the last instant; if it throws, the request is not sent. */
  readonly mayLeave: () => void;
}

/**
 * At most one request, on its own connection that is closed afterwards. Never rejects: it always reports
 * whether something may have been sent.
 */
export async function sendOnce<T>(
  { network, origin, tap, mayLeave }: Way,
  options: CallOptions & { readonly signal: AbortSignal },
  read: (response: Dispatcher.ResponseData) => Promise<T>,
): Promise<SentOnce<T>> {
  const gate = oneConnection(mayLeave);
  let dispatcher: Dispatcher;
  try {
    mayLeave();
    dispatcher = network.openForOneSend(gate);
  } catch (refused) {
    return { refused };
  }
  try {
    const composed = dispatcher.compose(authorise(origin), listen(tap));
    return { read: await read(await orAbort(composed.request(options), options.signal)) };
  } catch (broke) {
    gate.seal();
    const refusal = gate.refusal();
    if (refusal !== undefined) return { refused: refusal.why };
    return { broke, unmade: gate.neverHandedOut() };
  } finally {
    gate.seal();
    // Nothing waits for this, and it cannot change the outcome.
    dispatcher.destroy().catch(() => undefined);
  }
}

interface Asked {
  readonly url: URL;
  readonly method: Dispatcher.HttpMethod;
  /** JSON; undefined for no body. */
  readonly body: string | undefined;
  readonly token: Secret;
  readonly secrets: readonly Secret[] | undefined;
  readonly signal: AbortSignal;
}

export function optionsOnce(
  { url, method, body, token, secrets, signal }: Asked,
  limits: Limits,
): CallOptions & { readonly signal: AbortSignal } {
  return {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method,
    headers: jsonHeaders(body !== undefined),
    ...(body === undefined ? {} : { body }),
    // `Connection: close`: tells the service not to wait for a second request on this connection.
    reset: true,
    // The deadline counts, not the silence: the router may hold the answer back for 15 minutes.
    headersTimeout: 0,
    bodyTimeout: limits.bodyMs,
    answer: 'stream',
    token,
    secrets,
    signal,
  };
}

/**
 * Gives a client one connection, once. Since no byte of a request can be sent without a connection, this also
 * proves `never-sent`, and makes a second send impossible even if a higher layer retries.
 */
export interface OneConnection {
  wrap(connect: buildConnector.connector): buildConnector.connector;
  /** Gives out no connection from now on. */
  seal(): void;
  /**
   * `true`: a connection was requested and none was given out; final once sealed. Sockets that are still
   * opening are destroyed unused. `false` if one was given out, or the request bypassed this gate.
   */
  neverHandedOut(): boolean;
  /** Why `mayLeave` refused: no byte was sent, although there was a connection. */
  refusal(): { readonly why: unknown } | undefined;
}

/** Calls `mayLeave` right before the first byte; if it throws, the connection is ended instead. */
export function oneConnection(mayLeave: () => void = () => undefined): OneConnection {
  let refused: { readonly why: unknown } | undefined;
  const refusing = (): Error | undefined => {
    try {
      if (refused === undefined) mayLeave();
    } catch (thrown) {
      refused = { why: thrown };
    }
    return refused && new Error('the call may not leave', { cause: refused.why });
  };
  let asked = false;
  let handedOut = false;
  let sealed = false;
  return {
    wrap: (connect) => (options, callback) => {
      if (sealed || asked) {
        callback(new SecondConnectionError(), null);
        return;
      }
      asked = true;
      connect(options, (...result) => {
        const [error, socket] = result;
        if (error === null && sealed) {
          socket.on('error', () => undefined).destroy();
          callback(new SecondConnectionError(), null);
          return;
        }
        if (error === null) {
          handedOut = true;
          askBeforeWriting(socket, refusing);
        }
        callback(...result);
      });
    },
    seal: () => {
      sealed = true;
    },
    neverHandedOut: () => asked && !handedOut,
    refusal: () => refused,
  };
}

/** Below `write`, which buffers: `_write` and `_writev` reach the socket (Node's stream contract). */
function askBeforeWriting(socket: Socket, refusing: () => Error | undefined): void {
  const { _write, _writev } = socket;
  let isFirst = true;
  const ask = (done: (error?: Error | null) => void, write: () => void): void => {
    const error = isFirst ? refusing() : undefined;
    isFirst = error !== undefined;
    if (error === undefined) write();
    else done(error);
  };
  socket._write = (chunk, encoding, done) => ask(done, () => _write.call(socket, chunk, encoding, done));
  if (_writev) socket._writev = (chunks, done) => ask(done, () => _writev.call(socket, chunks, done));
}

/** Its code must not be one that undici takes for a temporary error, or undici would retry forever. */
class SecondConnectionError extends Error {
  override readonly name = 'SecondConnectionError';
  readonly code = 'LIFEBOAT_ONE_CONNECTION';

  constructor() {
    super('a mutating call gets one connection');
  }
}
