import type { Entry, Json } from '../journal.ts';

export interface FoldedRow {
  /** `open`, or an instance's name. At most 120 characters. */
  readonly group: string;
  /** By code units, for instance an RFC 3339 time. */
  readonly sort: string;
  readonly value: Json;
}

/**
 * A view of the entries that a store updates in the transaction of each append. A pure fold: it can be
 * discarded, rebuilt from the entries and compared (`lifeboat doctor --deep`). Entries are folded in leaf
 * order, so an entry may change a row that another stream's entries created.
 */
export interface Projection {
  /** Letters and dashes. */
  readonly name: string;
  /** Rows of another version are rebuilt. */
  readonly version: number;
  /**
   * Groups that decisions depend on: their rows are signed with each append (vouched-rows.ts), so a query for
   * one returns what the entries produce, even if the rows were altered. All their rows are signed and read,
   * so they must stay small, unless they only grow.
   */
  readonly vouched?: readonly string[];
  /** These rows never change and never go, and come in the order of `sort`: a process reads each once. */
  readonly grows?: true;
  /** The rows that an entry may change; most change none. At most 200 characters each. */
  keysOf(entry: Entry): readonly string[];
  /** Undefined removes the row. Never throws: unreadable entries change nothing. */
  fold(row: FoldedRow | undefined, entry: Entry, key: string): FoldedRow | undefined;
}

/**
 * A fold over an array that only grows, such as a run's entries: called again with it, folds only what was
 * appended since. `next` changes the state in place, so a result is valid until the next call. An array that
 * is shorter than before, or whose last folded entry differs, is folded from the start.
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
