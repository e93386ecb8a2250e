import { formatBytes, formatSpan } from '../../base/format.ts';

/** A download under way. Bytes and milliseconds of this request alone, not of what an earlier one brought. */
export interface Pace {
  readonly done: number;
  readonly total: number | undefined;
  readonly elapsedMs: number;
  /** When the platform's router ends the request (service-api.md section 8). */
  readonly limitMs: number;
  /** Whether the service can go on from where a download ended. */
  readonly resumable: boolean;
}

/** Before this much time has passed, the speed says more about the start than about the way. */
const MEASURED_AFTER_MS = 5_000;

/**
 * What to tell a person when a download will not end before the router ends it; undefined while it will, and
 * while it is too early to say. Pure.
 */
export function routerWarning({ done, total, elapsedMs, limitMs, resumable }: Pace): string | undefined {
  if (total === undefined || done === 0 || elapsedMs < MEASURED_AFTER_MS) return undefined;
  const needsMs = (total / done) * elapsedMs;
  if (needsMs <= limitMs) return undefined;
  const speed = `${formatBytes((done / elapsedMs) * 1000)}/s`;
  const then = resumable
    ? 'it then goes on from there by itself'
    : 'this service cannot go on from there: ask the platform operator for a longer time';
  return `at ${speed} this takes ${formatSpan(needsMs / 1000)}, but the router of the platform ends requests after ${formatSpan(limitMs / 1000)}; ${then}`;
}

/** The speed that a download needs at least, in words; undefined for one that any line manages. */
export function leastSpeed(total: number | undefined, limitMs: number): string | undefined {
  const perSecond = ((total ?? 0) / limitMs) * 1000;
  return perSecond < 1_000_000
    ? undefined
    : `it needs ${formatBytes(perSecond)}/s to be done in ${formatSpan(limitMs / 1000)}`;
}
