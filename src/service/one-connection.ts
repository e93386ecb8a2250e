import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/**
 * Lets a client have one connection, once. Since no byte of a request can leave without one, it also proves
 * what `never-sent` claims, and makes a second send impossible whatever the layers above believe about
 * retries.
 */
export interface OneConnection {
  wrap(connect: buildConnector.connector): buildConnector.connector;
  /** No connection is given out from here on. */
  seal(): void;
  /**
   * `true`: a connection was asked for and none was handed out; final once sealed. Sockets that are still
   * opening are destroyed unused. `false` when one was handed out, or when the request took a way that this
   * does not see.
   */
  neverHandedOut(): boolean;
  /**
   * Why `mayLeave` did not let the first byte out. Then not one has left, although there was a connection.
   */
  refusal(): { readonly why: unknown } | undefined;
}

/** `mayLeave` is asked right before the first byte goes out; what it throws ends the connection instead. */
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
 * Below `write`, where what was written is buffered: these two hand the bytes over (`Writable._write` and
 * `_writev` of Node's stream contract).
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

/** Has no code that undici takes for a passing error: it would ask again and again. */
class SecondConnectionError extends Error {
  override readonly name = 'SecondConnectionError';
  readonly code = 'LIFEBOAT_ONE_CONNECTION';

  constructor() {
    super('a mutating call gets one connection');
  }
}
