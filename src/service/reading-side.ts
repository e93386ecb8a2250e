import type { Exchange } from './call.ts';
import { type CookieJar, openCookieJar } from './cookies.ts';
import { authorise, limitTimes, observe, retryReads } from './interceptors.ts';
import type { Limits } from './limits.ts';
import { type Network, networkFor } from './network.ts';
import { openReader, type Reader } from './reader.ts';
import { listen, type Tap } from './tap.ts';
import { holdToken, type TokenCache } from './token-cache.ts';
import type { TokenReader } from './token-source.ts';
import { wholeAnswers } from './whole-answers.ts';

export interface ReadingOptions {
  readonly token: TokenReader;
  /** PEM file, trusted besides the certificates that Node trusts. */
  readonly caFile?: string | undefined;
  /** Called for every request at its end, retries included. Gets nothing secret. */
  readonly onExchange?: ((exchange: Exchange) => void) | undefined;
  /** Hears every request with all that is in it, for a transcript. */
  readonly tap?: Tap | undefined;
}

/** What only reads of an origin, and what whoever sends to it shares with that. */
export interface ReadingSide {
  readonly reader: Reader;
  readonly network: Network;
  readonly tokens: TokenCache;
  readonly jar: CookieJar;
  /** Aborts with `close`. */
  readonly closed: AbortSignal;
  close(): Promise<void>;
}

/** Nothing is sent and no token is read until it is used. Throws `config.ca` or `config.proxy`. */
export function openReadingSide(origin: string, limits: Limits, options: ReadingOptions): ReadingSide {
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
    network,
    tokens,
    jar,
    closed: closing.signal,
    async close() {
      closing.abort();
      await dispatcher.destroy();
    },
  };
}
