import type { Log, LoggedEntry } from '../../../src/store/journal.ts';

/** What the log holds, as an audit reads it. */
export async function allOf(log: Pick<Log, 'stored'>, from?: number): Promise<readonly LoggedEntry[]> {
  const all: LoggedEntry[] = [];
  for await (const stored of log.stored(from)) all.push(stored);
  return all;
}
