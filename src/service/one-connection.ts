import type { buildConnector } from 'undici';

/**
 * Lets a client have one connection, once. Since no byte of a request can leave without one, it also proves what
 * `never-sent` claims, and makes a second send impossible whatever the layers above believe about retries.
 */
export interface OneConnection {
  wrap(connect: buildConnector.connector): buildConnector.connector;
  /** No connection is given out from here on. */
  seal(): void;
  /**
   * `true`: a connection was asked for and none was handed out; final once sealed. Sockets that are still opening
   * are destroyed unused. `false` when one was handed out, or when the request took a way that this does not see.
   */
  neverHandedOut(): boolean;
}

export function oneConnection(): OneConnection {
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
        if (error === null) handedOut = true;
        callback(...result);
      });
    },
    seal: () => {
      sealed = true;
    },
    neverHandedOut: () => asked && !handedOut,
  };
}

/** Has no code that undici takes for a passing error: it would ask again and again. */
class SecondConnectionError extends Error {
  override readonly name = 'SecondConnectionError';
  readonly code = 'LIFEBOAT_ONE_CONNECTION';

  constructor() {
    super('a mutating call gets one connection');
  }
}
