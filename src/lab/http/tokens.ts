import { createHash, randomBytes } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export type Right = 'read' | 'write';

export interface Tokens {
  readonly file: string;
  /** What the holder of an `Authorization` header may do; undefined for no token, or an expired one. */
  rightOf(header: string | undefined): Right | undefined;
  /** The tokens that there are now are refused from now on. */
  expire(): void;
  /** Puts fresh tokens into the files; earlier ones go on until they expire. */
  renew(): Promise<void>;
}

/** Makes the files `token`, which may do everything, and `token-readonly`, which may look. Mode 0600. */
export async function makeTokens(folder: string): Promise<Tokens> {
  const file = join(folder, 'token');
  /** By hash: how long a look-up takes tells nothing about a token. */
  const rights = new Map<string, Right>();
  const renew = async () => {
    const [full, readOnly] = [newToken(), newToken()];
    rights.set(hashed(full), 'write').set(hashed(readOnly), 'read');
    await replace(file, full);
    await replace(join(folder, 'token-readonly'), readOnly);
  };
  await renew();
  return {
    file,
    // Whether a scheme word precedes the token is not stated (section 5): both forms are taken.
    rightOf: (header) => rights.get(hashed((header ?? '').replace(/^bearer +/iu, ''))),
    expire: () => rights.clear(),
    renew,
  };
}

function newToken(): string {
  return randomBytes(32).toString('base64url');
}

function hashed(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** A reader of the file sees one token or the other, never half of one. */
async function replace(path: string, token: string): Promise<void> {
  const fresh = `${path}.new`;
  await writeFile(fresh, token, { mode: 0o600 });
  await rename(fresh, path);
}

/** The sign-on of the dashboard (section 5 item 2): who has shown a token once goes on with a cookie. */
export interface Sessions {
  /**
   * Keeps where somebody wanted to go, with the Authorization header shown; the code is good for one `enter`.
   */
  begin(authorization: string, destination: string): string;
  /** Opens the session; undefined for a code that is unknown or used up. */
  enter(
    code: string,
  ): { readonly session: string; readonly ticket: string; readonly destination: string } | undefined;
  /** A session that goes on from a header. */
  open(authorization: string): string;
  /** The header that a session was opened with. */
  ofSession(session: string | undefined): string | undefined;
  /** The header behind a ticket, once: for clients that follow redirects and keep no cookies. */
  redeem(ticket: string | undefined): string | undefined;
}

export const COOKIE = 'lab_session';

/** Nobody waits long between two redirects; what is older than so many is forgotten, oldest first. */
const KEPT = 1_000;

export function makeSessions(): Sessions {
  const codes = new Map<string, { readonly authorization: string; readonly destination: string }>();
  const sessions = new Map<string, string>();
  const tickets = new Map<string, string>();
  const open = (authorization: string) => keep(sessions, authorization);
  return {
    begin: (authorization, destination) => keep(codes, { authorization, destination }),
    enter: (code) => {
      const wish = taken(codes, code);
      if (wish === undefined) return undefined;
      const { authorization, destination } = wish;
      return { session: open(authorization), ticket: keep(tickets, authorization), destination };
    },
    open,
    ofSession: (session) => sessions.get(session ?? ''),
    redeem: (ticket) => taken(tickets, ticket ?? ''),
  };
}

function keep<T>(map: Map<string, T>, value: T): string {
  const name = randomBytes(18).toString('base64url');
  map.set(name, value);
  const [oldest] = map.keys();
  if (map.size > KEPT && oldest !== undefined) map.delete(oldest);
  return name;
}

function taken<T>(map: Map<string, T>, name: string): T | undefined {
  const value = map.get(name);
  map.delete(name);
  return value;
}
