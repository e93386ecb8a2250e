const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** Bytes for a person: `0 B`, `999 B`, `1.2 MB`. Decimal units, as disks and networks are sold. */
export function formatBytes(bytes: number): string {
  let value = Math.max(0, bytes);
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

/** A running time as a clock: `0:00:07`, `12:04:59`. */
export function formatElapsed(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (value: number) => String(value).padStart(2, '0');
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}

/** A length of time in words, two units at most: `45 s`, `3 min 20 s`, `2 h 5 min`. */
export function formatSpan(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return joined(Math.floor(whole / 60), 'min', whole % 60, 's');
  return joined(Math.floor(whole / 3600), 'h', Math.floor((whole % 3600) / 60), 'min');
}

function joined(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

/** A measured time: `0.7 s`, `42 s`, then as `formatSpan`. */
export function formatSeconds(seconds: number): string {
  return seconds < 10 ? `${Number(seconds.toFixed(1))} s` : formatSpan(Math.round(seconds));
}

/** `2026-11-21 03:04:05`, UTC; a text that is no time stays as it is. */
export function formatTime(text: string): string {
  const parsed = new Date(text);
  if (Number.isNaN(parsed.getTime())) return text;
  return parsed.toISOString().slice(0, 19).replace('T', ' ');
}

/** A fact's value with its unit: bytes, seconds, days or a time. */
export function formatValue(value: string | number, unit?: string): string {
  if (unit === 'bytes') return formatBytes(Number(value));
  if (unit === 'seconds') return formatSeconds(Number(value));
  if (unit === 'days') return `${value} days`;
  if (unit === 'time') return `${formatTime(String(value))} UTC`;
  return String(value);
}
