import { isoOf } from './date.ts';
import { instantOf } from './instant.ts';
import { counted, formatBytes, formatSpan, futureWords, inWords, precise } from './quantity.ts';
import { show } from './text.ts';

export { counted, formatBytes, formatSpan, futureWords };

/** A running time as a clock: `0:00:07`, `12:04:59`. */
export function formatElapsed(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (value: number) => String(value).padStart(2, '0');
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}

/**
 * A measured time beside its limit: `0.7 s`, `42 s`, `30 min 1 s`, `2 h 0 min 5 s`. Rounded up, never coarser
 * than a second: a narrowly missed limit must not look met.
 */
export function formatSeconds(seconds: number): string {
  const exact = precise(seconds);
  if (exact <= 9.9) return `${Math.ceil(precise(exact * 10)) / 10} s`;
  return inWords(Math.ceil(exact));
}

/** To the millisecond: `2.319`. */
export function secondsOf(milliseconds: number): number {
  return Math.round(milliseconds) / 1000;
}

/** `2026-11-21 03:04:05` in UTC; an invalid time stays unchanged. */
export function formatTime(text: string): string {
  const ms = instantOf(text);
  return ms === undefined ? text : isoOf(ms).slice(0, 19).replace('T', ' ');
}

/** For a column of times; a dash for undefined. A text without a zone gets none. */
export function timeOr(text: string | undefined): string {
  if (text === undefined) return '-';
  return instantOf(text) === undefined ? zoneless(text) : formatTime(text);
}

/** `2026-11-21 03:04:05 UTC`; for anything else, no zone is claimed. */
export function utcTime(text: string): string {
  return instantOf(text) === undefined ? zoneless(text) : `${formatTime(text)} UTC`;
}

function zoneless(text: string): string {
  return `${show(text, 40)} (zone unknown)`;
}

/**
 * A sentence for a person: printable, cut to `limit` characters (see `show`), with every RFC 3339 time as
 * `2026-11-21 03:04:05 UTC`. Text in backticks is to be typed, and stays unchanged.
 */
export function readable(text: string, limit?: number): string {
  const formatted = text.replace(TYPED_OR_TIME, (found) => {
    if (found.startsWith('`')) return found;
    const time = found.replace(' UTC', '');
    return formatTime(time) === time ? found : `${formatTime(time)} UTC`;
  });
  return show(formatted, limit);
}

const TYPED_OR_TIME =
  /`[^`]*`|(?<![\w./-])\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?(?: UTC)?(?![\w/-]|[.:]\w)/g;

export function formatValue(value: string | number, unit?: string): string {
  if (unit === 'bytes') return formatBytes(Number(value));
  if (unit === 'seconds') return formatSeconds(Number(value));
  if (unit === 'days') return counted(Number(value), 'day');
  if (unit === 'time') return utcTime(String(value));
  return String(value);
}
