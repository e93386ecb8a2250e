import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

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
  /** Why `mayLeave` did not let the first byte out. Then none was sent, although there was a connection. */
  refusal(): { readonly why: unknown } | undefined;
}

/**
 * `mayLeave` is called right before the first byte is sent; if it throws, the connection is ended instead.
 */
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

/**
 * Hooks below `write`, which buffers: `_write` and `_writev` pass the bytes to the socket (Node's stream
 * contract).
 */
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
