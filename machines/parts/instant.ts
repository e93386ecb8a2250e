const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i;

/**
 * An RFC 3339 time as milliseconds since 1970 in UTC, undefined for anything else. Computed from the text
 * alone: a machine has no clock, and none is needed to compare two times that were given to it.
 */
export function instantOf(text: string | undefined): number | undefined {
  const found = RFC_3339.exec(text ?? '');
  if (found === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', zone = 'Z'] = found;
  const days = daysSince1970(Number(year), Number(month), Number(day));
  const seconds = days * 86_400 + Number(hour) * 3600 + Number(minute) * 60 + Number(second);
  return (seconds - offsetOf(zone)) * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3));
}

/** By the civil calendar, with the year begun in March so that a leap day is the last of it. */
function daysSince1970(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/** Seconds east of UTC. */
function offsetOf(zone: string): number {
  if (zone.toUpperCase() === 'Z') return 0;
  const sign = zone.startsWith('-') ? -1 : 1;
  return sign * (Number(zone.slice(1, 3)) * 3600 + Number(zone.slice(4, 6)) * 60);
}
