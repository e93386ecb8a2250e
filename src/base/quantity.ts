/* Counts and amounts in words: a pure module, which machines may import. Other code imports format.ts. */

/** `1 backup`, `3 backups`. `many` is for irregular plurals. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/**
 * Bytes in binary units, as for memory and limits: `0 B`, `999 B`, `1.2 MiB`, `123 GiB`; `64 KiB` if exact.
 */
export function formatBytes(bytes: number): string {
  let value = Math.max(0, bytes);
  let unit = 0;
  while (value >= 1023.5 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = Number.isInteger(value) || value >= 99.95 ? 0 : 1;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

/** A duration in words, at most two units, rounded up: `45 s`, `3 min 20 s`, `2 h 5 min`. */
export function formatSpan(seconds: number): string {
  const whole = Math.max(0, Math.ceil(precise(seconds)));
  return inWords(whole < 3600 ? whole : Math.ceil(whole / 60) * 60);
}

/** Removes binary rounding errors: times are measured in milliseconds. */
export function precise(seconds: number): number {
  return Math.round(Math.max(0, seconds) * 1000) / 1000;
}

/** Whole seconds in words: `1 h 5 min 3 s`. */
export function inWords(whole: number): string {
  const [hours, minutes, seconds] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (hours === 0 && minutes === 0) return `${seconds} s`;
  const parts = hours === 0 ? [`${minutes} min`] : [`${hours} h`];
  if (hours > 0 && (minutes > 0 || seconds > 0)) parts.push(`${minutes} min`);
  if (seconds > 0) parts.push(`${seconds} s`);
  return parts.join(' ');
}

export function futureWords(aheadSeconds: number): string {
  return `dated ${formatSpan(aheadSeconds)} in the future: the clock or the time zone of the service is wrong`;
}
