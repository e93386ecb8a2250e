import type { StoredEntry } from '../journal.ts';

/**
 * The clock of a machine moved otherwise than time passed: `{seconds}`, ahead of it or (less than zero) back.
 */
export const CLOCK_MOVED = 'clock.moved';

/** By how many seconds an entry says that a clock was moved; 0 for every other entry. */
export function clockMoved({ type, body }: Pick<StoredEntry, 'type' | 'body'>): number {
  if (type !== CLOCK_MOVED) return 0;
  const seconds = Number(/^\{"seconds":(-?\d{1,9}(?:\.\d{1,9})?)\}$/u.exec(body)?.[1] ?? 0);
  return seconds;
}

/**
 * What an append says first whose clock stands behind the entry before it by more than two minutes, so that
 * an audit does not take it for back-dating: the seconds, less than zero. Undefined where there is nothing to
 * say. Times are RFC 3339.
 */
export function clockNote(before: string | undefined, at: string): { readonly seconds: number } | undefined {
  const seconds = Math.round((Date.parse(at) - Date.parse(before ?? at)) / 1000);
  return seconds < -120 ? { seconds } : undefined;
}
