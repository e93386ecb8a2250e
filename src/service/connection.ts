import type { Dispatcher } from 'undici';
import type { InstanceAddress } from './address.ts';
import type { Awaits } from './awaited.ts';
import { type CookieJar, openCookieJar } from './cookies.ts';
import { authorise, countRequests, limitTimes, listen, retryReads, type Tap } from './interceptors.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import { type Network, networkFor } from './network.ts';
import { openReader, orAbort, type Reader } from './reader.ts';
import { openSender, type Sender } from './sender.ts';
import type { CaFile } from './tls.ts';
import { holdToken, type TokenCache } from './token-cache.ts';
import type { TokenReader } from './token-source.ts';
import { wholeAnswers } from './whole-answers.ts';

export interface ConnectionOptions extends ReadingOptions {
  readonly limits?: Partial<Limits>;
}

/** The reading and the sending side for one instance; they share its token and the cookies of its origin. */
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
  const side = openReadingSide(origin, limits, options);
  const { reader, tokens, closed, close } = side;
  return {
    reader,
    sender: openSender(side, { origin, limits, tap: options.tap, awaits: options.awaits }),
    ready: (signal) => {
      const stop = AbortSignal.any(signal === undefined ? [closed] : [closed, signal]);
      return orAbort(tokens.ready(), stop);
    },
    close,
  };
}

export interface ReadingOptions {
  readonly token: TokenReader;
  /** Trusted in addition to Node's certificates. */
  readonly caFile?: CaFile | undefined;
  /** Receives every request in full, for a transcript. */
  readonly tap?: Tap | undefined;
  readonly awaits?: Awaits | undefined;
}

/** The read-only access to an origin, and what it shares with the sending side. */
export interface ReadingSide {
  readonly reader: Reader;
  readonly network: Network;
  readonly tokens: TokenCache;
  readonly jar: CookieJar;
  /** Aborted by `close`. */
  readonly closed: AbortSignal;
  close(): Promise<void>;
}

/** Nothing is sent and no token is read until it is used. Throws `config.ca` or `config.proxy`. */
export function openReadingSide(origin: string, limits: Limits, options: ReadingOptions): ReadingSide {
  const network = networkFor(origin, options.caFile, limits);
  const tokens = holdToken(options.token);
  const jar = openCookieJar(origin);
  const closing = new AbortController();
  let opened: Dispatcher | undefined;
  // The HTTP client takes as long to load as a screen to draw, so it is loaded for the first call.
  const dispatcher = () => {
    opened ??= network
      .openForReads()
      // The last interceptor is the outermost.
      .compose(
        authorise(origin),
        countRequests(),
        limitTimes(limits),
        listen(options.tap),
        wholeAnswers(limits),
        retryReads(limits),
      );
    return opened;
  };
  return {
    reader: openReader(dispatcher, origin, tokens, jar, limits, closing.signal, options.awaits),
    network,
    tokens,
    jar,
    closed: closing.signal,
    async close() {
      closing.abort();
      await opened?.destroy();
    },
  };
}
