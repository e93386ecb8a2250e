import { type ParsedComponents, parse } from 'chrono-node';
import { dateAt } from '../base/date.ts';
import { formatSpan } from '../base/format.ts';
import { msOf } from '../base/instant.ts';
import { show } from '../base/text.ts';
import {
  formatHere,
  formatIn,
  formatOffset,
  formatUtc,
  instantsOf,
  localZone,
  offsetAt,
  type WallTime,
  wallOf,
  type Zone,
} from './zone.ts';

/** As people read it: with the offset of their own clock, and in UTC. */
export interface Moment {
  readonly time: Date;
  /** `2026-03-01 03:59:00 +01:00`. */
  readonly local: string;
  /** `2026-03-01 02:59:00 UTC`. */
  readonly utc: string;
}

/** Dates, or RFC 3339 texts as a question has them. Both edges can be chosen. */
export interface MomentBounds {
  readonly earliest: Date | string;
  readonly latest: Date | string;
}

export interface MomentOptions extends MomentBounds {
  readonly now: Date;
  /** IANA name of the zone for a text without one; default: this machine's. */
  readonly zone?: string | undefined;
}

export type MomentUnit = 'millisecond' | 'second' | 'minute' | 'hour' | 'day';

const UNIT_MS: Readonly<Record<MomentUnit, number>> = {
  millisecond: 1,
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};
const FORMS = 'write it as 14:32, 14:32 UTC, 10 minutes ago or 2026-03-01 02:59:00 UTC';
const MAX_LENGTH = 80;

/**
 * Reads a time as an operator types it: `14:32` (the last time a clock showed that), `14:32Z`, `-5m`, `10
 * minutes ago`, `yesterday 23:10`, `2026-03-01T02:59:00.250Z`. The result lies within the bounds; otherwise
 * `problem` says why there is none: not readable, two readings, an hour that a change of the clocks left out
 * or repeated, outside the range (with both edges). Pure except for this machine's zone, if none is given.
 */
export function readMoment(text: string, options: MomentOptions): Moment | { readonly problem: string } {
  const zone = options.zone ?? localZone();
  const read = readInstant(text, options.now, zone);
  if (typeof read !== 'number') return read;
  const { earliest, latest } = edges(options);
  if (!(earliest <= latest)) return { problem: 'there is no range to choose a time from' };
  if (read >= earliest && read <= latest) return momentOf(dateAt(read), zone);
  const side =
    read < earliest
      ? `${formatSpan((earliest - read) / 1000)} before the earliest`
      : read > options.now.getTime()
        ? 'in the future'
        : `${formatSpan((read - latest) / 1000)} after the latest`;
  return { problem: `${formatHere(read, zone)[0]} is ${side}: ${rangeWords(earliest, latest, zone)}` };
}

/** In whole seconds within the range; 1970 is its earliest edge. */
function rangeWords(earliest: number, latest: number, zone: string): string {
  const [from, to] = [Math.ceil(earliest / 1000) * 1000, Math.floor(latest / 1000) * 1000];
  const [first, last] = (from <= to ? [from, to] : [earliest, latest]).map((edge) => {
    const [here, utc] = formatHere(edge, zone);
    return utc === undefined ? here : `${here} (${utc})`;
  });
  return earliest <= 0 ? `choose a time up to ${last}` : `choose between ${first} and ${last}`;
}

/** `zone` is an IANA name; default: this machine's. */
export function momentOf(time: Date, zone: string = localZone()): Moment {
  return { time, local: formatIn(time.getTime(), zone), utc: formatUtc(time.getTime()) };
}

/** `n` units later (earlier if negative), clamped to the bounds. */
export function stepMoment(time: Date, unit: MomentUnit, n: number, bounds: MomentBounds): Date {
  const { earliest, latest } = edges(bounds);
  return dateAt(Math.max(earliest, Math.min(latest, time.getTime() + n * UNIT_MS[unit])));
}

type Read = number | { readonly problem: string };

function readInstant(text: string, now: Date, zone: string): Read {
  const clean = text.trim().replace(/\s+/gu, ' ');
  if (clean === '') return { problem: `nothing was entered: ${FORMS}` };
  if (clean.length > MAX_LENGTH) return { problem: `that is too long for a time: ${FORMS}` };
  if (/\d\/\d/u.test(clean)) return { problem: 'day and month are ambiguous: write the date as 2026-03-01' };
  const { rest, offset } = splitOffset(clean);
  if (offset !== undefined && Math.abs(offset) > 14 * 60)
    return { problem: `no clock is ${formatOffset(offset)} from UTC` };
  const where = offset ?? zone;
  const reference = { instant: now, timezone: offsetAt(now.getTime(), where) };
  const [found, ...others] = parse(withMilliseconds(rest), reference);
  const whole = found?.index === 0 && found.text.length === withMilliseconds(rest).length;
  if (found === undefined || !whole || others.length > 0 || found.end)
    return { problem: `"${show(clean, 40)}" is not a time that can be read: ${FORMS}` };
  if (isRelative(found.tags())) {
    if (offset !== undefined) return { problem: 'a time that counts from now needs no zone' };
    // Whole seconds: "10 minutes ago" does not mean a millisecond.
    return Math.floor(found.start.date().getTime() / 1000) * 1000;
  }
  return placed(found.start, rest, now, where);
}

/** Takes `Z`, `UTC`, `GMT` or an offset, with or without `UTC` before it. Minutes east of UTC. */
function splitOffset(text: string): { readonly rest: string; readonly offset: number | undefined } {
  // An offset must follow a time, or `2026-03-01` would end in one.
  const found =
    /^(?<rest>.*\d:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[ap]m)?) ?(?:(?:Z|UTC|GMT)(?<zero>)|(?:UTC|GMT)? ?(?<sign>[+-])(?<hours>\d{2}):?(?<minutes>[0-5]\d)?)$/iu.exec(
      text,
    )?.groups;
  if (found === undefined) return { rest: text, offset: undefined };
  const { rest = '', sign, hours = '0', minutes = '0' } = found;
  return { rest, offset: (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) || 0 };
}

/** Exactly three digits, because the parser reads `.5` as five milliseconds. Cuts off finer digits. */
function withMilliseconds(text: string): string {
  return text.replace(/(\d:\d{2}:\d{2})[.,](\d+)/u, (_, time, fraction) => {
    return `${time}.${fraction.slice(0, 3).padEnd(3, '0')}`;
  });
}

function isRelative(tags: ReadonlySet<string>): boolean {
  return tags.has('result/relativeDateAndTime') || tags.has('casualReference/now');
}

function placed(read: ParsedComponents, text: string, now: Date, zone: Zone): Read {
  if (read.isCertain('timezoneOffset'))
    return { problem: 'names of zones are ambiguous: write UTC or an offset such as +01:00' };
  if (!read.isCertain('hour')) return { problem: `the time of the day is missing: ${FORMS}` };
  const hour = read.get('hour') ?? 0;
  if (!text.includes(':') && !read.isCertain('meridiem') && hour > 0 && hour < 12)
    return { problem: `that can be morning or evening: write ${hour}:00 or ${hour + 12}:00` };
  const wall: WallTime = {
    year: read.get('year') ?? 0,
    month: read.get('month') ?? 1,
    day: read.get('day') ?? 1,
    hour,
    minute: read.get('minute') ?? 0,
    second: read.isCertain('second') ? (read.get('second') ?? 0) : 0,
    millisecond: read.isCertain('millisecond') ? (read.get('millisecond') ?? 0) : 0,
  };
  const earlier = isAhead(wall, now, zone) ? lastTime(read, wall) : undefined;
  return resolved(earlier ?? wall, zone);
}

/** Also works for an hour that the clocks skip, which is no instant. */
function isAhead(wall: WallTime, now: Date, zone: Zone): boolean {
  const present = wallOf(now.getTime(), zone);
  const [first] = instantsOf(wall, zone);
  return first === undefined ? inUtc(wall) > inUtc(present) : first > now.getTime();
}

/** To compare two wall times. */
function inUtc({ year, month, day, hour, minute, second, millisecond }: WallTime): number {
  return Date.UTC(year, month - 1, day, hour, minute, second, millisecond);
}

/** A future time without a full date means the day, week or year before. */
function lastTime(read: ParsedComponents, wall: WallTime): WallTime | undefined {
  const back = (days: number): WallTime => {
    const date = dateAt(Date.UTC(wall.year, wall.month - 1, wall.day - days));
    return {
      ...wall,
      year: date.getUTCFullYear(),
      month: date.getUTCMonth() + 1,
      day: date.getUTCDate(),
    };
  };
  if (read.isCertain('weekday') && !read.isCertain('day')) return back(7);
  if (!read.isCertain('day')) return back(1);
  return read.isCertain('year') ? undefined : { ...wall, year: wall.year - 1 };
}

function resolved(wall: WallTime, zone: Zone): Read {
  const [first, second] = instantsOf(wall, zone);
  const clock = `${String(wall.hour).padStart(2, '0')}:${String(wall.minute).padStart(2, '0')}`;
  if (first === undefined)
    return { problem: `there was no ${clock} on that day: the clocks went forward; write it in UTC` };
  if (second === undefined) return first;
  const [summer, winter] = [first, second].map((instant) => formatOffset(offsetAt(instant, zone)));
  return {
    problem:
      `it was ${clock} twice on that day: the clocks went back; ` +
      `add ${summer} for the first time, ${winter} for the second`,
  };
}

function edges({ earliest, latest }: MomentBounds): { readonly earliest: number; readonly latest: number } {
  const [first, last] = [earliest, latest].map((edge) =>
    edge instanceof Date ? edge.getTime() : msOf(edge),
  );
  return { earliest: first ?? Number.NaN, latest: last ?? Number.NaN };
}
