import type { Entry, Json } from '../journal.ts';

/** A row that a projection folds. `value` is JSON; queries select and order rows by `group` and `sort`. */
export interface FoldedRow {
  /** Selects rows: `open`, or the name of an instance. At most 120 characters. */
  readonly group: string;
  /** Orders rows by code units, for instance an RFC 3339 time. */
  readonly sort: string;
  readonly value: Json;
}

/**
 * A view of the entries that a store keeps up to date in the transaction of each append. It is a pure fold,
 * so it can be discarded, rebuilt from the entries and compared (`lifeboat doctor --deep`). A store folds in
 * leaf order, one append after another, so an entry may also change a row that entries of another stream
 * created.
 */
export interface Projection {
  /** Its name in the database; letters and dashes. */
  readonly name: string;
  /** Rows kept by another version are rebuilt. */
  readonly version: number;
  /**
   * The groups that decisions depend on: their rows are signed with each append (vouched-rows.ts), so a query
   * for one of these groups returns what the entries produce, even if the rows were altered. The groups must
   * stay small, since all their rows are signed and read, unless they only grow.
   */
  readonly vouched?: readonly string[];
  /**
   * Rows of these groups never change and never go, and come in the order of `sort`. Then a process that has
   * read them once reads only those that came since.
   */
  readonly grows?: true;
  /** The keys of the rows that an entry may change; most change none. At most 200 characters each. */
  keysOf(entry: Entry): readonly string[];
  /** The row after the entry; undefined removes it. Never throws: unreadable entries change nothing. */
  fold(row: FoldedRow | undefined, entry: Entry, key: string): FoldedRow | undefined;
}

/**
 * A fold over an array that only grows, such as a run's entries in this process: called again with the same
 * array, it folds only what was appended since. `next` changes the state in place, so a result is valid until
 * the next call. An array that is shorter than before, or whose last folded entry differs, is folded from the
 * start.
 */
export function incrementalFold<State, One = Entry>(
  begin: () => State,
  next: (state: State, entry: One) => void,
): (entries: readonly One[]) => State {
  const known = new WeakMap<readonly One[], Folded<State, One>>();
  return (entries) => {
    let folded = known.get(entries);
    if (folded === undefined || folded.count > entries.length || entries[folded.count - 1] !== folded.last) {
      folded = { state: begin(), count: 0, last: undefined };
      known.set(entries, folded);
    }
    for (; folded.count < entries.length; folded.count += 1) {
      folded.last = entries[folded.count] as One;
      next(folded.state, folded.last);
    }
    return folded.state;
  };
}

interface Folded<State, One> {
  readonly state: State;
  count: number;
  last: One | undefined;
}
