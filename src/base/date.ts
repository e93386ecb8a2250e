import { instantOf } from './instant.ts';

/** Milliseconds since 1970. For text, use `instantOf`. */
export function dateAt(ms: number): Date {
  return new Date(ms);
}

/** As RFC 3339 in UTC, to the millisecond. Throws a `RangeError` for an invalid moment. */
export function isoOf(ms: number): string {
  return dateAt(ms).toISOString();
}

/** The time of the day in UTC, to the second: `03:14:07`. Throws a `RangeError` for an invalid moment. */
export function timeOfDay(ms: number): string {
  return isoOf(ms).slice(11, 19);
}

/**
 * A date in an HTTP header, in milliseconds since 1970; undefined for anything else. All forms are in GMT,
 * even the one that does not say so (RFC 9110 section 5.6.7).
 */
export function httpDate(text: unknown): number | undefined {
  if (typeof text !== 'string' || !DAY_NAME.test(text)) return instantOf(text);
  const ms = Date.parse(ZONE.test(text) ? text : `${text} GMT`);
  return Number.isNaN(ms) ? undefined : ms;
}

const DAY_NAME = /^\s*[a-z]{3,9},? /iu;
const ZONE = /(?:GMT|UTC|[+-]\d{4})\s*$/iu;
