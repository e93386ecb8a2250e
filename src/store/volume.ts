import { isoOf } from '../base/date.ts';

export interface Volume {
  /** On disk, with indexes and what the engine keeps beside the entries. */
  readonly bytes: number;
  readonly streams: number;
  /** The last seven, by UTC, oldest first; without those that have no entries. */
  readonly days: readonly GrownDay[];
  /** PostgreSQL's removal of dead rows; missing for SQLite, which leaves none. */
  readonly vacuum?: { readonly lastAt?: string; readonly deadRows: number };
}

export interface GrownDay {
  /** `YYYY-MM-DD`, by the entries' times. */
  readonly day: string;
  readonly entries: number;
  /** Of their texts. */
  readonly bytes: number;
}

export const GROWN_DAYS = 7;
const DAY_MS = 24 * 60 * 60_000;

/** The start of the last seven days, RFC 3339. */
export function grownSince(nowMs: number): string {
  const today = Math.floor(nowMs / DAY_MS);
  return isoOf((today - GROWN_DAYS + 1) * DAY_MS);
}

/**
 * The first of `size` leaves that may be as new as `since`: times grow with the leaves, and no engine has an
 * index over them. `timeAt` gives the time of a leaf, or of the next existing one.
 */
export async function firstLeafSince(
  since: string,
  size: number,
  timeAt: (leaf: number) => Promise<string | undefined> | string | undefined,
): Promise<number> {
  let [low, high] = [0, size];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const at = await timeAt(middle);
    if (at !== undefined && at < since) low = middle + 1;
    else high = middle;
  }
  return low;
}
