import type { Entry, Json } from '../journal.ts';

/**
 * A row of a projection as its fold sees it. `value` is JSON; `group` and `sort` are what rows are asked for
 * by.
 */
export interface FoldedRow {
  /**
   * Rows of one projection are asked for by it: `open`, or the name of an instance. At most 120 characters.
   */
  readonly group: string;
  /** Rows come in the order of it (code units), for instance an RFC 3339 time. */
  readonly sort: string;
  readonly value: Json;
}

/**
 * A view of the entries that a store keeps up to date in the transaction of each append. It is a pure fold,
 * so it can be thrown away, rebuilt from the entries and compared (`lifeboat doctor --deep`). A store folds
 * in the order of the leaves, one append after the other, so an entry may also change a row that entries of
 * another stream have made.
 */
export interface Projection {
  /** Names it in the database; letters and dashes. */
  readonly name: string;
  /** Its rows are rebuilt when the store was kept by another version. */
  readonly version: number;
  /**
   * The rows that an entry may change, by their keys. Most entries change none. At most 200 characters each.
   */
  keysOf(entry: Entry): readonly string[];
  /** The row after the entry; undefined removes it. Never throws: what it cannot read changes nothing. */
  fold(row: FoldedRow | undefined, entry: Entry, key: string): FoldedRow | undefined;
}
