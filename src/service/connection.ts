import type { Cookie, MemoryCookieStore, CookieJar as ToughJar } from 'tough-cookie';
import type { Dispatcher } from 'undici';
import type { InstanceAddress } from './address.ts';
import type { Awaits } from './awaited.ts';
import type { HostPace } from './host-pace.ts';
import {
  authorise,
  countRequests,
  keepPace,
  limitTimes,
  listen,
  retryReads,
  type Tap,
} from './interceptors.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import { type Network, networkFor } from './network.ts';
import { openReader, orAbort, type Reader } from './reader.ts';
import { openSender, type Sender } from './sender.ts';
import type { SharedAccess } from './shared-access.ts';
import type { CaFile } from './tls.ts';
import { holdToken, type TokenCache, type TokenReader } from './token-source.ts';
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
  const tap = heardBy(options);
  const side = openReadingSide(origin, limits, { ...options, tap });
  const { reader, tokens, closed, close } = side;
  return {
    reader,
    sender: openSender(side, { origin, limits, tap, awaits: options.awaits }),
    ready: (signal) => {
      const stop = AbortSignal.any(signal === undefined ? [closed] : [closed, signal]);
      return orAbort(tokens.ready(), stop);
    },
    close,
  };
}

/** Both sides hear when the host asks to be spared. */
function heardBy({ pace, tap }: ReadingOptions): Tap | undefined {
  if (pace === undefined) return tap;
  return (heard) => {
    pace.hear(heard);
    tap?.(heard);
  };
}

export interface ReadingOptions {
  readonly token: TokenReader;
  /** What this client shares with others; `source` is what they read their token from. */
  readonly shared?: { readonly access: SharedAccess; readonly source: string } | undefined;
  /** Trusted in addition to Node's certificates. */
  readonly caFile?: CaFile | undefined;
  /** Receives every request in full, for a transcript. */
  readonly tap?: Tap | undefined;
  readonly awaits?: Awaits | undefined;
  /** Shared by all clients of a process that may ask the same host. */
  readonly pace?: HostPace | undefined;
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

/** Made once, since making it takes as long as reading a short answer. */
const CLOSED = new DOMException('the client was closed', 'AbortError');

/** Nothing is sent and no token is read until it is used. Throws `config.ca` or `config.proxy`. */
export function openReadingSide(origin: string, limits: Limits, options: ReadingOptions): ReadingSide {
  const { shared } = options;
  const network = (shared?.access.networkFor ?? networkFor)(origin, options.caFile, limits);
  const tokens = shared?.access.tokensOf(shared.source, options.token) ?? holdToken(options.token);
  const jar = openCookieJar(origin);
  const closing = new AbortController();
  let opened: { readonly dispatcher: Dispatcher; readonly close: () => Promise<void> } | undefined;
  // The HTTP client takes as long to load as a screen to draw, so it is loaded for the first call.
  const dispatcher = () => {
    if (opened !== undefined) return opened.dispatcher;
    const reads = network.openForReads();
    // The last interceptor is the outermost.
    const dispatcher = reads.dispatcher.compose(
      authorise(origin),
      countRequests(),
      limitTimes(limits),
      listen(options.tap),
      wholeAnswers(limits),
      keepPace(options.pace, limits),
      retryReads(limits),
    );
    opened = { dispatcher, close: reads.close };
    return dispatcher;
  };
  return {
    reader: openReader(dispatcher, origin, tokens, jar, limits, closing.signal, options.awaits),
    network,
    tokens,
    jar,
    closed: closing.signal,
    async close() {
      closing.abort(CLOSED);
      await opened?.close();
    },
  };
}

const MAX = 20;

/** A value that a header can carry byte for byte (RFC 9110 section 5.5), of limited length. */
const LINE = /^[\t\x20-\x7e\x80-\xff]{1,4096}$/u;

/** The session cookies of one origin (service-api.md section 5, item 2), in memory only. */
export interface CookieJar {
  /** Keeps the `Set-Cookie` headers of an answer from `url`; those of any other origin are dropped. */
  keep(url: URL, setCookie: string | readonly string[] | undefined): Promise<void>;
  /** The `Cookie` header for a request to `url`; undefined if there is none to send. */
  header(url: URL): Promise<string | undefined>;
}

interface Opened {
  readonly jar: ToughJar;
  readonly store: MemoryCookieStore;
}

/**
 * A jar for one origin: scheme, host and port. Cookies do not distinguish ports (RFC 6265 section 8.5), so
 * the origin is compared here. The rules of RFC 6265 come from a library, loaded with the first cookie.
 */
export function openCookieJar(origin: string): CookieJar {
  let opening: Promise<Opened> | undefined;
  return {
    keep: async (url, setCookie) => {
      const lines = [setCookie ?? []].flat().filter((line) => LINE.test(line));
      if (url.origin !== origin || lines.length === 0) return;
      opening ??= openJar();
      const opened = await opening;
      for (const line of lines) await keepOne(opened, line, url);
    },
    header: async (url) => {
      if (url.origin !== origin || opening === undefined) return undefined;
      const { jar } = await opening;
      const header = await jar.getCookieString(url.href);
      return header === '' ? undefined : header;
    },
  };
}

async function openJar(): Promise<Opened> {
  const { CookieJar: Jar, MemoryCookieStore: Store } = await import('tough-cookie');
  const store = new Store();
  return { jar: new Jar(store), store };
}

/** A full jar keeps its cookies: a working session is worth more than one more cookie. */
async function keepOne({ jar, store }: Opened, line: string, url: URL): Promise<void> {
  const kept = await jar.setCookie(line, url.href, { ignoreError: true });
  if (kept === undefined) return;
  const now = Date.now();
  let live = 0;
  for (const cookie of await store.getAllCookies()) {
    if ((cookie.expiryTime() ?? Infinity) > now) live += 1;
    else await remove(store, cookie);
  }
  if (live > MAX) await remove(store, kept);
}

async function remove(store: MemoryCookieStore, { domain, path, key }: Cookie): Promise<void> {
  if (domain !== null && path !== null) await store.removeCookie(domain, path, key);
}
