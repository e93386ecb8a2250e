import type { Entry } from '../../store/journal.ts';
import { isEnd, type RunEntryBody, type RunEntryType, readRunEntry } from '../../store/run-entries.ts';

export interface Found<T extends RunEntryType> {
  readonly entry: Entry;
  readonly body: RunEntryBody<T>;
}

/** All entries of a type that can be read as such. */
export function findAll<T extends RunEntryType>(entries: readonly Entry[], type: T): Found<T>[] {
  return entries.flatMap((entry) => {
    const known = entry.type === type ? readRunEntry(entry) : undefined;
    return known === undefined ? [] : [{ entry, body: known.body as RunEntryBody<T> }];
  });
}

export function find<T extends RunEntryType>(entries: readonly Entry[], type: T): Found<T> | undefined {
  return findAll(entries, type)[0];
}

/**
 * The entries up to the one that ended the run, and all of a run that is not over: what was written behind
 * its end does not change what it was.
 */
export function untilEnd(entries: readonly Entry[]): readonly Entry[] {
  const end = entries.findIndex((entry) => isEnd(entry) && readRunEntry(entry) !== undefined);
  return end === -1 ? entries : entries.slice(0, end + 1);
}

export function findLast<T extends RunEntryType>(entries: readonly Entry[], type: T): Found<T> | undefined {
  return findAll(entries, type).at(-1);
}
