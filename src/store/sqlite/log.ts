import type { DatabaseSync } from 'node:sqlite';
import { LOG_STREAM, type Log, type LogHead } from '../journal.ts';
import { consistencyProof, inclusionProof, rootOf } from '../log/merkle.ts';
import { hearLog, NOTHING_SAID } from '../log/named-keys.ts';
import { EMPTY_LOG, rootSaid } from '../log/newest-head.ts';
import type { StoredHead } from '../log/next-leaves.ts';
import { checkDatabase } from './check.ts';
import { answer as inWords, prepareSnapshot, type Queries } from './queries.ts';
import { storedEntries } from './stored.ts';

/** The log as readers see it; `vouch` is a writer's. */
export function createLog(db: DatabaseSync, queries: Queries): Omit<Log, 'vouch'> {
  const count = db.prepare('SELECT count(*) AS count FROM entries');
  const snapshot = prepareSnapshot(db);
  const answer = <T>(look: () => T): T => inWords(() => snapshot(look));
  const rootAt = (size: number) => rootOf(size, queries.node).toString('hex');
  return {
    origin: async () => answer(() => hearLog(NOTHING_SAID, queries.read(LOG_STREAM)).origin),
    head: async () => answer(() => headOf(queries.newestHead(), rootAt)),
    rootAt: async (size) => answer(() => rootAt(size)),
    inclusion: async (index, size) => answer(() => inclusionProof(index, size, queries.node).map(toHex)),
    consistency: async (from, size) => answer(() => consistencyProof(from, size, queries.node).map(toHex)),
    stored: (from) => storedEntries(db, from),
    check: () => checkDatabase(db),
    count: async () => answer(() => (count.get() as { count: number }).count),
    vouched: async () => answer(() => queries.newestHead()?.vouched ?? 0),
  };
}

function headOf(head: StoredHead | undefined, rootAt: (size: number) => string): LogHead {
  if (head === undefined) return EMPTY_LOG;
  const { size, note } = head;
  try {
    return { size, root: rootAt(size), note };
  } catch (error) {
    return { size, root: rootSaid(head, error), note };
  }
}

function toHex(hash: Buffer): string {
  return hash.toString('hex');
}
