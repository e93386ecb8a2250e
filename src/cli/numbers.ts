import { Duration } from '../base/duration.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';

/** A whole number (service-api.md section 2); anything else is a usage error. */
export function idFrom(text: string, what: string): number {
  return wholeNumber(text, what, 0);
}

/** A whole number of at least `least`, in digits; anything else is a usage error. */
export function wholeNumber(text: string, what: string, least: number): number {
  const value = /^\d{1,15}$/u.test(text) ? Number(text) : Number.NaN;
  if (value >= least) return value;
  throw new LifeboatError(
    'usage.number',
    `${what} must be a whole number of at least ${least}, not ${show(text, 40)}`,
    {
      hints: ['nothing was sent'],
      exitCode: EXIT.usage,
    },
  );
}

/** Milliseconds of `--FLAG 15m`; else the usage error `usage.FLAG`. Timers need `bounds`, both as typed. */
export function durationFrom(text: string, flag: string, bounds?: readonly [string, string]): number {
  const ms = Duration.safeParse(text).data;
  const [least, most] = bounds?.map((bound) => Duration.parse(bound)) ?? [];
  if (ms !== undefined && ms >= (least ?? 0) && ms <= (most ?? Number.POSITIVE_INFINITY)) return ms;
  const what = ms === undefined ? 'a duration' : `between ${bounds?.join(' and ')}`;
  throw new LifeboatError(`usage.${flag}`, `--${flag} ${show(text, 60)} is not ${what}`, {
    hints: ['write for instance 30s, 15m or 1h30m', 'nothing was started'],
    exitCode: EXIT.usage,
  });
}
