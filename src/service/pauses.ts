import { errorCode } from './failures.ts';
import type { Limits } from './limits.ts';

/**
 * How long a `Retry-After` asks to wait, in milliseconds (RFC 9110 section 10.2.3: seconds or a date);
 * undefined for anything else.
 */
export function retryAfterMs(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^\d{1,9}$/u.test(value)) return Number(value) * 1000;
  const ms = Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
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
