import type { Entry } from '../../store/journal.ts';
import { isEnd, type RunEntryBody, type RunEntryType, readRunEntry } from '../../store/run-entries.ts';

export interface Found<T extends RunEntryType> {
  readonly entry: Entry;
  readonly body: RunEntryBody<T>;
}

/** All readable entries of a type. */
export function findAll<T extends RunEntryType>(entries: readonly Entry[], type: T): Found<T>[] {
  return entries.flatMap((entry) => {
    const known = entry.type === type ? readRunEntry(entry) : undefined;
    return known === undefined ? [] : [{ entry, body: known.body as RunEntryBody<T> }];
  });
}

export function find<T extends RunEntryType>(entries: readonly Entry[], type: T): Found<T> | undefined {
  return findAll(entries, type)[0];
}

/** The entries up to the one that ended the run, or all of an open run: later entries do not change it. */
export function untilEnd(entries: readonly Entry[]): readonly Entry[] {
  const end = entries.findIndex((entry) => isEnd(entry) && readRunEntry(entry) !== undefined);
  return end === -1 ? entries : entries.slice(0, end + 1);
}

export function findLast<T extends RunEntryType>(entries: readonly Entry[], type: T): Found<T> | undefined {
  return findAll(entries, type).at(-1);
}
