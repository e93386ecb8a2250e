import { dateAt } from '../base/date.ts';

/** As a clock on the wall shows it, without a zone. Month from 1. */
export interface WallTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly millisecond: number;
}

/** An IANA name such as `Europe/Berlin`, or minutes east of UTC. */
export type Zone = string | number;

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

export function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/**
 * The instants at which a clock of the zone shows this time, in milliseconds since 1970, earliest first:
 * usually one, none in the hour that is left out when clocks go forward, two in the hour that repeats when
 * they go back.
 */
export function instantsOf(wall: WallTime, zone: Zone): number[] {
  const { year, month, day, hour, minute, second, millisecond } = wall;
  const asUtc = Date.UTC(year, month - 1, day, hour, minute, second, millisecond);
  // A clock changes at most once within two days, so it can only have had the offsets around it. A time comes
  // twice only if the later offset is the smaller one, so the instants are in order.
  const offsets = new Set([asUtc - DAY_MS, asUtc + DAY_MS].map((near) => offsetAt(near, zone)));
  return [...offsets]
    .filter((offset) => offsetAt(asUtc - offset * MINUTE_MS, zone) === offset)
    .map((offset) => asUtc - offset * MINUTE_MS);
}

export function wallOf(instantMs: number, zone: Zone): WallTime {
  const shifted = dateAt(instantMs + offsetAt(instantMs, zone) * MINUTE_MS);
  return {
    year: shifted.getUTCFullYear(),
    month: shifted.getUTCMonth() + 1,
    day: shifted.getUTCDate(),
    hour: shifted.getUTCHours(),
    minute: shifted.getUTCMinutes(),
    second: shifted.getUTCSeconds(),
    millisecond: shifted.getUTCMilliseconds(),
  };
}

/** Minutes east of UTC. Throws a RangeError for an unknown zone. */
export function offsetAt(instantMs: number, zone: Zone): number {
  if (typeof zone === 'number') return zone;
  const parts = formatter(zone).formatToParts(instantMs);
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours = '0', minutes = '0'] = /^GMT([+-])(\d{2}):(\d{2})/u.exec(name) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) || 0;
}

/** `2026-03-01 03:59:00 +01:00`; with milliseconds if there are any. */
export function formatIn(instantMs: number, zone: Zone): string {
  const offset = offsetAt(instantMs, zone);
  return `${digits(instantMs + offset * MINUTE_MS)} ${formatOffset(offset)}`;
}

/** `2026-03-01 02:59:00 UTC`; with milliseconds if there are any. */
export function formatUtc(instantMs: number): string {
  return `${digits(instantMs)} UTC`;
}

/** On a clock of the zone (default: this machine's) and in UTC; once if that clock shows UTC then. */
export function formatHere(instantMs: number, zone: string = localZone()): readonly [string, ...string[]] {
  const utc = formatUtc(instantMs);
  return offsetAt(instantMs, zone) === 0 ? [utc] : [formatIn(instantMs, zone), utc];
}

/** `+01:00`. */
export function formatOffset(minutes: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

function digits(ms: number): string {
  return dateAt(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/(?:\.000)?Z$/u, '');
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** Making one costs far more than using it. */
function formatter(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  formatters.set(zone, made);
  return made;
}
