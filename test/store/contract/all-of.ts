import type { Log, StoredEntry } from '../../../src/store/journal.ts';

/** What the log holds, as an audit reads it. */
export async function allOf(log: Pick<Log, 'stored'>, from?: number): Promise<readonly StoredEntry[]> {
  const all: StoredEntry[] = [];
  for await (const stored of log.stored(from)) all.push(stored);
  return all;
}
