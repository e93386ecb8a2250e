import { httpDate } from '../base/date.ts';
import { errorCode } from './failures.ts';

/** How long and how much the client takes. All times in milliseconds, all sizes in bytes. */
export interface Limits {
  /** Until TCP and TLS stand. */
  readonly connectMs: number;
  /** Until the headers of a read's answer are there: two minutes have to be enough for any list. */
  readonly headersMs: number;
  /** Longest silence inside an answer. */
  readonly bodyMs: number;
  /** A whole read, with its retries. */
  readonly readMs: number;
  /**
   * Until a download begins: the router of the platform gives up after 15 minutes (service-api.md section 8).
   */
  readonly downloadHeadersMs: number;
  /** A mutating call, to the answer; longer than the router waits, so that its 504 is seen. */
  readonly sendMs: number;
  /** The same for a harmless repeatable call: silence is no reason to wait for the router. */
  readonly repeatableSendMs: number;
  readonly jsonBytes: number;
  readonly errorBytes: number;
  /** Sends of one read, the first included. */
  readonly attempts: number;
  /** First pause between two attempts; doubles each time, with jitter. */
  readonly retryBaseMs: number;
  /** A `Retry-After` beyond this is not waited for: the answer is passed on. */
  readonly retryAfterMs: number;
}

const MINUTE = 60_000;

export const DEFAULT_LIMITS: Limits = {
  connectMs: 10_000,
  headersMs: 2 * MINUTE + 5_000,
  bodyMs: MINUTE,
  readMs: 5 * MINUTE,
  downloadHeadersMs: 16 * MINUTE,
  sendMs: 16 * MINUTE,
  repeatableSendMs: 5 * MINUTE,
  jsonBytes: 8 * 1024 * 1024,
  errorBytes: 64 * 1024,
  attempts: 4,
  retryBaseMs: 250,
  retryAfterMs: 20_000,
};

/**
 * How long a `Retry-After` asks to wait, in milliseconds (RFC 9110 section 10.2.3: seconds or a date);
 * undefined for anything else.
 */
export function retryAfterMs(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^\d{1,9}$/u.test(value)) return Number(value) * 1000;
  const ms = httpDate(value);
  return ms === undefined ? undefined : Math.max(0, ms - Date.now());
}

/**
 * Errors that come at once, and end as soon as a service has restarted. A service that lets connections time
 * out has been waited for long enough.
 */
const PASSING = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETDOWN|ENETUNREACH|EHOSTDOWN|EHOSTUNREACH)$/u;

/**
 * Milliseconds before a connection that could not be made is tried again; undefined when it will not pass by
 * itself: what is wrong with a certificate stays so. `failed` counts the attempts so far.
 */
export function pauseBeforeConnecting(error: unknown, failed: number, limits: Limits): number | undefined {
  if (failed >= limits.attempts || !PASSING.test(errorCode(error))) return undefined;
  return limits.retryBaseMs * 2 ** (failed - 1) * (0.5 + Math.random());
}

/** Whether the time has passed; false when the signal was aborted meanwhile. */
export function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const stop = () => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve(true);
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}
