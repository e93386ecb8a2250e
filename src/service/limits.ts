import { httpDate } from '../base/date.ts';
import { errorCode } from './failures.ts';

/** Times in milliseconds, sizes in bytes. */
export interface Limits {
  /** For TCP and TLS. */
  readonly connectMs: number;
  /** To the headers of a read's answer: two minutes must suffice for any list. */
  readonly headersMs: number;
  /** The longest silence inside an answer. */
  readonly bodyMs: number;
  /** A whole read, including its retries. */
  readonly readMs: number;
  /** The platform's router gives up after 15 minutes (service-api.md section 8). */
  readonly downloadHeadersMs: number;
  /** To the answer of a mutating call; longer than the router waits, so that its 504 is seen. */
  readonly sendMs: number;
  /** The same for a harmless, repeatable call, which need not wait for the router. */
  readonly repeatableSendMs: number;
  readonly jsonBytes: number;
  readonly errorBytes: number;
  /** For one read, including the first. */
  readonly attempts: number;
  /** The first pause; doubles each time, with jitter. */
  readonly retryBaseMs: number;
  /** The longest `Retry-After` to wait for; with a longer one the answer is passed on. */
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

/** Milliseconds (RFC 9110 section 10.2.3: seconds or a date); undefined for anything else. */
export function retryAfterMs(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^\d{1,9}$/u.test(value)) return Number(value) * 1000;
  const ms = httpDate(value);
  return ms === undefined ? undefined : Math.max(0, ms - Date.now());
}

/** Come at once, and stop once a service has restarted. A timed-out connection was awaited long enough. */
const PASSING = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETDOWN|ENETUNREACH|EHOSTDOWN|EHOSTUNREACH)$/u;

/** Milliseconds; undefined if retrying cannot help, as with a bad certificate. `failed` counts attempts. */
export function pauseBeforeConnecting(error: unknown, failed: number, limits: Limits): number | undefined {
  if (failed >= limits.attempts || !PASSING.test(errorCode(error))) return undefined;
  return limits.retryBaseMs * 2 ** (failed - 1) * (0.5 + Math.random());
}

/** True once the time has passed; false if the signal aborts first. */
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
