import type { Cookie, MemoryCookieStore, CookieJar as ToughJar } from 'tough-cookie';

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
