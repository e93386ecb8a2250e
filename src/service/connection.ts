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

/** For one instance; both sides share its token and the cookies of its origin. */
export interface Connection {
  readonly reader: Reader;
  readonly sender: Sender;
  /** For the next mutating call. */
  ready(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Sends nothing and reads no token until it is used. Throws `config.ca` or `config.proxy`. */
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

/** Both sides hear when the host asks for a pause. */
function heardBy({ pace, tap }: ReadingOptions): Tap | undefined {
  if (pace === undefined) return tap;
  return (heard) => {
    pace.hear(heard);
    tap?.(heard);
  };
}

export interface ReadingOptions {
  readonly token: TokenReader;
  /** `source` is the origin of the shared token. */
  readonly shared?: { readonly access: SharedAccess; readonly source: string } | undefined;
  /** In addition to Node's certificates. */
  readonly caFile?: CaFile | undefined;
  /** Receives every request in full, for a transcript. */
  readonly tap?: Tap | undefined;
  readonly awaits?: Awaits | undefined;
  /** For all clients of a process that may ask the same host. */
  readonly pace?: HostPace | undefined;
}

/** Read-only, with what it shares with the sending side. */
export interface ReadingSide {
  readonly reader: Reader;
  readonly network: Network;
  readonly tokens: TokenCache;
  readonly jar: CookieJar;
  readonly closed: AbortSignal;
  close(): Promise<void>;
}

/** Made once, since making it takes as long as reading a short answer. */
const CLOSED = new DOMException('the client was closed', 'AbortError');

/** Sends nothing and reads no token until it is used. Throws `config.ca` or `config.proxy`. */
export function openReadingSide(origin: string, limits: Limits, options: ReadingOptions): ReadingSide {
  const { shared } = options;
  const network = (shared?.access.networkFor ?? networkFor)(origin, options.caFile, limits);
  const tokens = shared?.access.tokensOf(shared.source, options.token) ?? holdToken(options.token);
  const jar = openCookieJar(origin);
  const closing = new AbortController();
  let opened: { readonly dispatcher: Dispatcher; readonly close: () => Promise<void> } | undefined;
  // The HTTP client takes as long to load as a screen to draw, so the first call loads it.
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

/** A header can carry it byte for byte (RFC 9110 section 5.5); of limited length. */
const LINE = /^[\t\x20-\x7e\x80-\xff]{1,4096}$/u;

/** Session cookies of one origin (service-api.md section 5, item 2), in memory only. */
export interface CookieJar {
  /** Drops headers from any other origin. */
  keep(url: URL, setCookie: string | readonly string[] | undefined): Promise<void>;
  /** Undefined if there is no cookie to send. */
  header(url: URL): Promise<string | undefined>;
}

interface Opened {
  readonly jar: ToughJar;
  readonly store: MemoryCookieStore;
}

/**
 * Cookies do not distinguish ports (RFC 6265 section 8.5), so scheme, host and port are compared here. A
 * library with the rules of RFC 6265 is loaded with the first cookie.
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
