import type { InstanceAddress } from './address.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import { orAbort, type Reader } from './reader.ts';
import { openReadingSide, type ReadingOptions } from './reading-side.ts';
import { openSender, type Sender } from './sender.ts';

export interface ConnectionOptions extends ReadingOptions {
  readonly limits?: Partial<Limits>;
}

/** Both sides of the way to one instance; they share its token and the cookies of its origin. */
export interface Connection {
  readonly reader: Reader;
  readonly sender: Sender;
  /** Reads the token for the next mutating call. */
  ready(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/**
 * Nothing is sent and no token is read until one of the sides is used. Throws `config.ca` or `config.proxy`.
 */
export function openConnection({ origin }: InstanceAddress, options: ConnectionOptions): Connection {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { reader, network, tokens, jar, closed, close } = openReadingSide(origin, limits, options);
  return {
    reader,
    sender: openSender(network, origin, tokens, jar, limits, closed, options.onExchange, options.tap),
    ready: (signal) => {
      const stop = AbortSignal.any(signal === undefined ? [closed] : [closed, signal]);
      return orAbort(tokens.ready(), stop);
    },
    close,
  };
}
