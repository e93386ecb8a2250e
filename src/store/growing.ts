import type { Entry } from './journal.ts';

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
