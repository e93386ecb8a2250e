import type { Journal, StoredEntry } from '../../store/journal.ts';

/** What is really there of a store that lost something. */
export interface RowsLeft {
  /** One more than the number of the last leaf. */
  readonly end: number;
  /** The leaves that are gone before that, in ranges. */
  readonly gaps: readonly (readonly [first: number, last: number])[];
  /** Rows that have no leaf, and that nobody of this log has written as they are there. */
  readonly stray: readonly Pick<StoredEntry, 'stream' | 'seq'>[];
}

/** More ranges are not put on record, and stay a problem of every audit. */
const MOST_GAPS = 4_096;
const MOST_STRAY = 1_000;

/** Reads all entries once: a store that lost something may not be believed in what it counts. */
export async function rowsLeft(journal: Pick<Journal, 'log'> | undefined): Promise<RowsLeft> {
  const gaps: [number, number][] = [];
  const stray: Pick<StoredEntry, 'stream' | 'seq'>[] = [];
  let end = 0;
  if (journal === undefined) return { end, gaps, stray };
  for await (const { index, stream, seq } of journal.log.stored()) {
    if (index < 0 && stray.length < MOST_STRAY) stray.push({ stream, seq });
    if (index > end && gaps.length < MOST_GAPS) gaps.push([end, index - 1]);
    end = Math.max(end, index + 1);
  }
  return { end, gaps, stray };
}
