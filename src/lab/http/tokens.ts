import { createHash, randomBytes } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export type Right = 'read' | 'write';

export interface Tokens {
  readonly file: string;
  /** What the holder of an `Authorization` header may do; undefined without a valid token. */
  rightOf(header: string | undefined): Right | undefined;
  /** Makes all current tokens invalid. */
  expire(): void;
  /** Writes fresh tokens into the files; earlier ones stay valid until they expire. */
  renew(): Promise<void>;
}

/** Creates the files `token` (full) and `token-readonly` (read-only), mode 0600. */
export async function makeTokens(folder: string): Promise<Tokens> {
  const file = join(folder, 'token');
  /** By hash, so that the time of a look-up reveals nothing about a token. */
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
    // Section 5 does not say whether a scheme word precedes the token: both forms are accepted.
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

/** The dashboard's sign-on (section 5 item 2): after showing a token once, a caller goes on with a cookie. */
export interface Sessions {
  /** Keeps the destination with the Authorization header shown; the code is valid for one `enter`. */
  begin(authorization: string, destination: string): string;
  /** Opens the session; undefined for an unknown or used code. */
  enter(
    code: string,
  ): { readonly session: string; readonly ticket: string; readonly destination: string } | undefined;
  open(authorization: string): string;
  /** The header that a session was opened with. */
  ofSession(session: string | undefined): string | undefined;
  /** The header behind a ticket, once: for clients that follow redirects and keep no cookies. */
  redeem(ticket: string | undefined): string | undefined;
}

export const COOKIE = 'lab_session';

/** Redirects follow at once, so the oldest entries beyond this number are forgotten. */
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
