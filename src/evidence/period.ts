import { isoOf } from '../base/date.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { instantOf } from '../base/instant.ts';
import { show } from '../base/text.ts';

/** From its first moment up to its end, which is not part of it. Milliseconds since 1970. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

const DAY_MS = 24 * 60 * 60_000;

/**
 * The period of a pack, in whole days of UTC: from the beginning of the one day to the end of the other.
 * Without a first day, the last full half-year; without a last day, up to and with today. Throws
 * `usage.period` (exit 2) for anything that is no day, and for a period that is empty or has not begun. Pure.
 */
export function periodOf(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  now: Date,
): Span {
  if (from === undefined && to === undefined) return lastHalfYear(now);
  if (from === undefined) throw refused('--to needs the first day of the period as well');
  const span = {
    from: dayOf('--from', from),
    until: (to === undefined ? startOfDay(now) : dayOf('--to', to)) + DAY_MS,
  };
  if (span.from > now.getTime()) throw refused(`the period has not begun: ${from} is in the future`);
  if (span.from >= span.until) throw refused(`the period ends before it begins: ${from} to ${to}`);
  return span;
}

/** `2026-01-01 to 2026-06-30`: the first and the last day of a period. */
export function daysOf({ from, until }: Span): { readonly first: string; readonly last: string } {
  const day = (ms: number) => isoOf(ms).slice(0, 10);
  return { first: day(from), last: day(until - 1) };
}

function lastHalfYear(now: Date): Span {
  const year = now.getUTCFullYear();
  return now.getUTCMonth() < 6
    ? { from: Date.UTC(year - 1, 6), until: Date.UTC(year, 0) }
    : { from: Date.UTC(year, 0), until: Date.UTC(year, 6) };
}

function dayOf(flag: string, text: string): number {
  const at = /^\d{4}-\d\d-\d\d$/u.test(text) ? instantOf(`${text}T00:00:00Z`) : undefined;
  if (at === undefined) throw refused(`${flag} is a day such as 2026-06-30, not ${show(text, 40)}`);
  return at;
}

function startOfDay(now: Date): number {
  return now.getTime() - (now.getTime() % DAY_MS);
}

function refused(problem: string): LifeboatError {
  return new LifeboatError('usage.period', problem, {
    hints: [
      'both days belong to the period, in UTC: lifeboat evidence --from 2026-01-01 --to 2026-06-30',
      'nothing was written',
    ],
    exitCode: EXIT.usage,
  });
}
