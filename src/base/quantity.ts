/*
 * How many and how much, in words. It stands here because machines import only themselves; everything else
 * has it from src/base/format.ts.
 */

/** A count with its noun: `1 backup`, `3 backups`. `many` is for nouns whose plural is no `s` more. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/**
 * Bytes for a person: `0 B`, `999 B`, `1.2 MiB`, `123 GiB`; `64 KiB` where it is just that. Binary units, as
 * for memory and for the limits of services.
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
