import { isoOf } from '../base/date.ts';

/** How much a store holds, and how fast it grows. */
export interface Volume {
  /** Bytes on disk, with indexes and what the engine keeps beside the entries. */
  readonly bytes: number;
  readonly streams: number;
  /** The last seven days by UTC, oldest first; a day without entries is missing. */
  readonly days: readonly GrownDay[];
  /** What PostgreSQL says about removing dead rows; missing for SQLite, which leaves none. */
  readonly vacuum?: { readonly lastAt?: string; readonly deadRows: number };
}

/** What one day added. */
export interface GrownDay {
  /** `YYYY-MM-DD`, by the times of the entries. */
  readonly day: string;
  readonly entries: number;
  /** Of their texts. */
  readonly bytes: number;
}

export const GROWN_DAYS = 7;
const DAY_MS = 24 * 60 * 60_000;

/** The begin of the first of the last seven days, RFC 3339. */
export function grownSince(nowMs: number): string {
  const today = Math.floor(nowMs / DAY_MS);
  return isoOf((today - GROWN_DAYS + 1) * DAY_MS);
}

/**
 * The first leaf of `size` from which entries may be as new as `since`: times grow with the leaves, and no
 * engine has an index over them. `timeAt` gives the time of a leaf, or of the next one that is there.
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
