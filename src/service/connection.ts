import type { InstanceAddress } from './address.ts';
import type { Exchange } from './call.ts';
import { openCookieJar } from './cookies.ts';
import { authorise, limitTimes, observe, retryReads } from './interceptors.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import { networkFor } from './network.ts';
import { openReader, orAbort, type Reader } from './reader.ts';
import { openSender, type Sender } from './sender.ts';
import { listen, type Tap } from './tap.ts';
import { holdToken } from './token-cache.ts';
import type { TokenReader } from './token-source.ts';
import { wholeAnswers } from './whole-answers.ts';

export interface ConnectionOptions {
  readonly token: TokenReader;
  /** PEM file, trusted besides the certificates that Node trusts. */
  readonly caFile?: string | undefined;
  readonly limits?: Partial<Limits>;
  /** Called for every request at its end, retries included. Gets nothing secret. */
  readonly onExchange?: (exchange: Exchange) => void;
  /** Hears every request with all that is in it, for a transcript. */
  readonly tap?: Tap | undefined;
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
export function openConnection(address: InstanceAddress, options: ConnectionOptions): Connection {
  const { origin } = address;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const network = networkFor(origin, options.caFile, limits);
  const tokens = holdToken(options.token);
  const jar = openCookieJar(origin);
  const closing = new AbortController();
  // The last one stands outermost.
  const dispatcher = network
    .openForReads()
    .compose(
      authorise(origin),
      limitTimes(limits),
      observe(options.onExchange),
      listen(options.tap),
      wholeAnswers(limits),
      retryReads(limits),
    );
  return {
    reader: openReader(dispatcher, origin, tokens, jar, limits, closing.signal),
    sender: openSender(network, origin, tokens, jar, limits, closing.signal, options.onExchange, options.tap),
    ready: (signal) => {
      const stop = AbortSignal.any(signal === undefined ? [closing.signal] : [closing.signal, signal]);
      return orAbort(tokens.ready(), stop);
    },
    close: async () => {
      closing.abort();
      await dispatcher.destroy();
    },
  };
}
