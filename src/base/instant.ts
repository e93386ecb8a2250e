const PARTS =
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)[T ](?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)(?:\.(?<fraction>\d+))? ?(?:Z|UTC|(?<sign>[+-])(?<hours>\d\d)(?::?(?<minutes>\d\d))?)?$/iu;

/**
 * A date and time of the service, the data or the journal in milliseconds since 1970: RFC 3339, or
 * PostgreSQL's format. Without a zone it is UTC (service-api.md section 2). Undefined for anything else,
 * including impossible days and hours. Computed from the text alone, because machines must not use a clock or
 * the parser behind it.
 */
export function instantOf(text: unknown): number | undefined {
  const found = typeof text === 'string' ? PARTS.exec(text.trim())?.groups : undefined;
  if (found === undefined) return undefined;
  const part = (name: string): number => Number(found[name] ?? 0);
  const [year, month, day] = [part('year'), part('month'), part('day')];
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  const isTime = (hours: string, minutes: string) => part(hours) <= 23 && part(minutes) <= 59;
  if (!isTime('hour', 'minute') || !isTime('hours', 'minutes') || part('second') > 59) return undefined;
  const days = daysSince1970(year, month, day);
  const seconds = days * 86_400 + part('hour') * 3600 + part('minute') * 60 + part('second');
  const east = (part('hours') * 3600 + part('minutes') * 60) * (found['sign'] === '-' ? -1 : 1);
  return (seconds - east) * 1000 + Number((found['fraction'] ?? '').padEnd(3, '0').slice(0, 3));
}

/** NaN for an invalid time, so that no comparison with it holds. */
export function msOf(text: unknown): number {
  return instantOf(text) ?? Number.NaN;
}

/** Two machines' clocks differ slightly; a larger difference is an error. */
const AHEAD_MS = 2 * 60_000;

/** Seconds that a time is ahead of `nowMs`, beyond normal clock differences; undefined if it is not. */
export function futureSeconds(at: unknown, nowMs: number): number | undefined {
  const aheadMs = (instantOf(at) ?? nowMs) - nowMs;
  return aheadMs > AHEAD_MS ? aheadMs / 1000 : undefined;
}

/** By the civil calendar, with the year begun in March so that a leap day is its last. */
function daysSince1970(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const cycle = Math.floor(shifted / 400);
  const yearOfCycle = shifted - cycle * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfCycle =
    yearOfCycle * 365 + Math.floor(yearOfCycle / 4) - Math.floor(yearOfCycle / 100) + dayOfYear;
  return cycle * 146_097 + dayOfCycle - 719_468;
}

function daysIn(year: number, month: number): number {
  const next = month === 12 ? daysSince1970(year + 1, 1, 1) : daysSince1970(year, month + 1, 1);
  return next - daysSince1970(year, month, 1);
}
