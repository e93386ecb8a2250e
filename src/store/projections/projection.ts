import type { Entry, Json } from '../journal.ts';

/** A row as a projection folds it. `value` is JSON; rows are asked for by `group` and `sort`. */
export interface FoldedRow {
  /** Rows are asked for by it: `open`, or the name of an instance. At most 120 characters. */
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
   * The groups that decisions rest on: their rows are signed with each append (vouched-rows.ts), and who asks
   * for one of these groups gets what the entries give, whatever was done to the rows. Few rows, all of them.
   */
  readonly vouched?: readonly string[];
  /** The keys of the rows that an entry may change; most change none. At most 200 characters each. */
  keysOf(entry: Entry): readonly string[];
  /** The row after the entry; undefined removes it. Never throws: what it cannot read changes nothing. */
  fold(row: FoldedRow | undefined, entry: Entry, key: string): FoldedRow | undefined;
}

/**
 * A fold over entries to which only more are added, as a run in this process does it: called again with the
 * same array it takes in only what was appended since. `next` changes the state in place, so a result is
 * valid until the next call. An array that is shorter than before, or has another entry where the last one
 * was, is folded anew.
 */
export function growing<State, One = Entry>(
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
