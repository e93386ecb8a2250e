import { parseCookie } from 'undici';

const MOST = 20;
const LONGEST = 4096;

/** The session cookies of one origin (service-api.md section 5, item 2), in memory only, for as long as the client lives. */
export interface CookieJar {
  /** Takes the `Set-Cookie` headers of an answer of the origin. */
  keep(setCookie: string | readonly string[] | undefined): void;
  /** The `Cookie` header, or undefined when there is none. */
  header(): string | undefined;
}

/** A jar for one origin needs no domains and paths: it is emptied with the client and never sent elsewhere. */
export function openCookieJar(): CookieJar {
  const values = new Map<string, string>();
  return {
    keep: (setCookie) => {
      for (const line of [setCookie ?? []].flat()) {
        const cookie = line.length > LONGEST ? null : parseCookie(line);
        if (cookie === null || cookie.name === '') continue;
        const expires = cookie.expires === undefined ? undefined : Number(cookie.expires);
        const gone = cookie.maxAge === undefined ? (expires ?? Infinity) <= Date.now() : cookie.maxAge <= 0;
        if (gone) values.delete(cookie.name);
        else if (values.size < MOST || values.has(cookie.name)) values.set(cookie.name, cookie.value);
      }
    },
    header: () =>
      values.size === 0 ? undefined : [...values].map(([name, value]) => `${name}=${value}`).join('; '),
  };
}
