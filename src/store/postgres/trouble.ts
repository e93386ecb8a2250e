import { setTimeout as pause } from 'node:timers/promises';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { LOG_STREAM } from '../journal.ts';
import { steadyNow } from './steady-clock.ts';

/** Retry, or report it. */
const UNREACHABLE = 'journal.unreachable';

/** Of PostgreSQL's own errors; undefined for a connection error. */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  return 'severity' in error && /^[0-9A-Z]{5}$/u.test(error.code) ? error.code : undefined;
}

/**
 * Whether the connection is unusable: it broke, the server ends (57P), cut it off for idling in a transaction
 * (25P03), cancelled a slow statement (57014) or was demoted (25006: takes no writes).
 */
export function isBroken(error: unknown): boolean {
  if (error instanceof LifeboatError) return error.code === UNREACHABLE;
  // A bug is not a connection problem, so it is not retried.
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) return false;
  const state = sqlState(error);
  return state === undefined || /^(?:08|53|57|58|25P03|25006|XX)/u.test(state);
}

/** Not retried. `readOnly`: nothing can have been written on this connection. */
export function unreachable(cause: unknown, servers: string, readOnly: boolean): LifeboatError {
  if (cause instanceof LifeboatError) return cause;
  return new LifeboatError(UNREACHABLE, `the store cannot be reached: ${whyOf(cause)}`, {
    hints: [
      `it is expected at ${servers}`,
      `${readOnly ? '' : 'nothing was written by this step: '}try again when the database answers`,
    ],
    evidence: evidenceOf(cause),
  });
}

/** The server may be promoted soon, so this is retried like an outage. */
export function standby(server: string): LifeboatError {
  const why = `${server} is a standby, which takes no writes, and no other server of the address is the primary`;
  return new LifeboatError(UNREACHABLE, `the store cannot be reached: ${why}`, {
    hints: [
      'nothing was written: name the primary in the address, or all servers: postgres://USER@A,B/DATABASE',
      'promote the standby only once the primary is stopped for good, or two of them take entries',
    ],
  });
}

export function pooled(): LifeboatError {
  return new LifeboatError(
    'journal.pooled',
    'a pooler, such as pgbouncer in transaction mode, stands between lifeboat and the database',
    {
      hints: [
        'locks and prepared statements of a store belong to one session: nothing can be relied on there',
        'name the server of the database itself in the address, or a pool with `pool_mode = session`',
      ],
    },
  );
}

/** For `channel_binding=require`. */
export function unbound(server: string): LifeboatError {
  return new LifeboatError('journal.refused', `${server} does not bind the password to its certificate`, {
    hints: [
      'channel_binding=require needs an encrypted connection, and scram-sha-256 in pg_hba.conf of the server',
      'no password was sent',
    ],
  });
}

/** For an error of PostgreSQL that a retry cannot fix. */
export function refused(cause: unknown, context: RefusedContext): LifeboatError {
  if (cause instanceof LifeboatError) return cause;
  // A prepared statement exists that this session did not make, or its own is gone.
  if (/^(?:42P05|26000)$/u.test(sqlState(cause) ?? '')) return pooled();
  const [code, shortMessage, hints] = refusal(cause, context);
  return new LifeboatError(code, shortMessage, { hints, evidence: evidenceOf(cause) });
}

type Refusal = readonly [code: string, shortMessage: string, hints: readonly string[]];

function refusal(cause: unknown, { user, database, server, hints = [] }: RefusedContext): Refusal {
  const state = sqlState(cause) ?? '';
  const why = whyOf(cause);
  const who = `user ${show(user, 60)}`;
  const named = `database ${show(database, 60)} on ${server}`;
  if (state === '28P01' || state === '28000' || isPasswordMissing(cause)) {
    const help = why.includes('pg_hba.conf')
      ? 'its administrator lets this user in from this machine: a line of pg_hba.conf, then a reload'
      : 'the password comes from PGPASSWORD or ~/.pgpass, never from the address';
    return ['journal.refused', `${server} does not let ${who} in: ${why}`, [...hints, help]];
  }
  if (state === '3D000') {
    const help = 'to make a new store: create it (`createdb`), then `lifeboat store init`';
    return ['journal.none', `there is no ${named}`, ['check its name in the address of the store', help]];
  }
  if (state === '3F000' || state === '42P01' || state === '42883')
    return ['journal.none', `there is no store in the ${named}`, ['`lifeboat store init` makes one']];
  if (state === '42501') {
    const help = `the owner of the store lets a member in: grant lifeboat_member to "${show(user, 60)}"`;
    return ['journal.refused', `${who} may not do this: ${why}`, [help]];
  }
  const tls = tlsHint(cause);
  if (tls !== undefined) {
    const help = 'sslmode=require in the address encrypts without verifying who answers';
    return ['journal.refused', `${server} cannot be trusted: ${why}`, [tls, help]];
  }
  const help = '`lifeboat audit verify` says what is damaged';
  return ['journal.damaged', `the store answers with an error: ${why}`, [help]];
}

export interface RefusedContext {
  readonly user: string;
  readonly database: string;
  /** As displayed. */
  readonly server: string;
  readonly hints?: readonly string[];
}

/** Whether a retry at this server would fail in the same way. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof LifeboatError) return error.code !== UNREACHABLE;
  if (isPasswordMissing(error) || tlsHint(error) !== undefined) return true;
  return /^(?:28|3D|42)/u.test(sqlState(error) ?? '');
}

export function rolledBack(what: string): LifeboatError {
  return new LifeboatError('journal.rolled-back', `the store has lost what it had acknowledged: ${what}`, {
    hints: [
      'nothing more is written: a standby that lagged behind may have been promoted, or a backup was put back',
      'put the journal back, or `lifeboat audit accept-loss --reason TEXT`',
    ],
    exitCode: EXIT.inDoubt,
  });
}

export function lostStore(cause: unknown): LifeboatError {
  const why = cause instanceof LifeboatError ? cause.shortMessage : whyOf(cause);
  return new LifeboatError('journal.lost', `the store could not be written to: ${why}`, {
    hints: [
      'no further step is taken: what is not written down is not done',
      'when the database answers again, a worker goes on by itself; else `lifeboat resume`, which looks at the service first',
    ],
    evidence: cause instanceof LifeboatError ? cause.evidence : evidenceOf(cause),
  });
}

/** By the codes of OpenSSL and Node. */
function tlsHint(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'the certificate is for another name: use that name in the address, or sslmode=verify-ca';
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return 'the certificate is not valid at this time: renew it on the server, or check the clock of this machine';
  if (/CERT|SELF_SIGNED|UNABLE_TO|ISSUER/u.test(code))
    return 'name the certificate of the authority that signed it: sslrootcert=FILE in the address';
  const text = error instanceof Error ? error.message : '';
  if (/does not support SSL/u.test(text))
    return 'the server does not encrypt: turn ssl on there, or write sslmode=disable for a network that you trust';
  return undefined;
}

function isPasswordMissing(error: unknown): boolean {
  return error instanceof Error && /SASL|password must be a string/iu.test(error.message);
}

function whyOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const known = WORDS[code];
  if (known !== undefined) return known;
  const inner = cause instanceof AggregateError ? cause.errors[0] : cause;
  if (inner !== cause) return whyOf(inner);
  const text = cause instanceof Error ? cause.message : String(cause);
  if (/password must be a/iu.test(text)) return 'it asks for a password, and none is given';
  return show(text === '' ? code : text, 160).replace(/\.$/u, '');
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody answers there',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  ENOTFOUND: 'the name of the server is not known',
  EAI_AGAIN: 'the name of the server cannot be looked up now',
  ETIMEDOUT: 'it did not answer in time',
  EHOSTUNREACH: 'there is no route to the server',
  ENETUNREACH: 'there is no route to the server',
  ENOENT: 'there is no socket',
  EACCES: 'this user may not use the socket',
  '53300': 'it has too many connections',
  '57P03': 'it is starting up or shutting down',
  '57014': 'it did not answer in time',
};

function evidenceOf(cause: unknown) {
  const state = sqlState(cause);
  const error = show(cause instanceof Error ? cause.message : String(cause), 300);
  return state === undefined ? { error } : { error, state };
}

export function contentionError(): LifeboatError {
  return new LifeboatError('journal.busy', `too many processes write to ${LOG_STREAM} at once`, {
    hints: ['nothing was written: try again'],
  });
}

/** Reported as they are although rows may reach the log later: the store must be repaired first. */
export const STOPS: ReadonlySet<string> = new Set([
  'journal.moved',
  'journal.damaged',
  'journal.rolled-back',
  'journal.lost',
]);

/** Another process took the row's number. */
export const UNIQUE = '23505';

/** Milliseconds. */
const FIRST_WAIT = 20;

/** Retries while the connection breaks, for `patience` ms. `heard` gets the first error that is retried. */
export async function persist<T>(
  work: () => Promise<T>,
  patience: number,
  heard?: (error: unknown) => void,
): Promise<T> {
  const end = steadyNow() + patience;
  for (let wait = FIRST_WAIT; ; wait = Math.min(wait * 2, 500)) {
    try {
      return await work();
    } catch (error) {
      if (!isBroken(error) || steadyNow() + wait > end) throw error;
      if (wait === FIRST_WAIT) heard?.(error);
      await pause(wait);
    }
  }
}
