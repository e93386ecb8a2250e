const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `3.4 MiB`: three significant digits at most, binary units. */
export function bytes(count: number): string {
  const power = count < 1 ? 0 : Math.min(Math.floor(Math.log2(count) / 10), UNITS.length - 1);
  const value = count / 1024 ** power;
  const digits = power === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${UNITS[power]}`;
}

/** `4 s`, `3 min 20 s`, `2 h 05 min`. Whole seconds; one digit more below ten. */
export function seconds(count: number): string {
  if (count < 10) return `${Number(count.toFixed(1))} s`;
  const whole = Math.round(count);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
  return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, '0')} min`;
}

/** `2026-11-21 03:04:05`, UTC; a text that is no time stays as it is. */
export function time(text: string): string {
  const parsed = new Date(text);
  if (Number.isNaN(parsed.getTime())) return text;
  return parsed.toISOString().slice(0, 19).replace('T', ' ');
}

/** `03:04:05`, UTC. */
export function timeOfDay(text: string): string {
  return time(text).slice(11) || text;
}

/** `2 min 05 s ago`; a time in the future is `now`. */
export function ago(text: string, now: Date): string {
  const parsed = Date.parse(text);
  if (Number.isNaN(parsed)) return 'at an unknown time';
  const age = (now.getTime() - parsed) / 1000;
  if (age < 1) return 'now';
  if (age > 48 * 3600) return `${Math.floor(age / 86_400)} days ago`;
  return `${seconds(age)} ago`;
}
