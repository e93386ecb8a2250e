import type { DatabaseSync } from 'node:sqlite';
import { LifeboatError } from '../../base/errors.ts';
import type { Entry, Head, StoredEntry, StreamName } from '../journal.ts';
import { nodeAt, placeOf } from '../log/merkle.ts';
import type { StoredHead } from '../log/next-leaves.ts';
import { entryOf } from '../new-entry.ts';
import { DATABASE_FILE, evidenceOf, isUnreadable, unreadable } from './database.ts';

export type Queries = ReturnType<typeof prepareQueries>;

const FIELDS = 'leaf AS "index", stream, seq, at, by, type, body, lower(hex(hash)) AS hash';

/** For writers and readers. Each throws `journal.damaged` for an altered entry. */
export function prepareQueries(db: DatabaseSync) {
  const entries = db.prepare(`SELECT ${FIELDS} FROM entries WHERE stream = ? AND seq >= ? ORDER BY seq`);
  const leaves = db.prepare(`SELECT ${FIELDS} FROM entries WHERE leaf >= ? ORDER BY leaf LIMIT ?`);
  const last = db.prepare(
    'SELECT seq, lower(hex(hash)) AS hash FROM entries WHERE stream = ? ORDER BY seq DESC LIMIT 1',
  );
  // Hops between streams by the index: reading all heads must not read all entries.
  const names = db.prepare(
    `WITH RECURSIVE hop(stream) AS (
       SELECT min(stream) FROM entries WHERE stream >= :prefix
       UNION ALL
       SELECT (SELECT min(stream) FROM entries WHERE stream > hop.stream) FROM hop WHERE hop.stream IS NOT NULL
     ) SELECT stream FROM hop WHERE substr(stream, 1, length(:prefix)) = :prefix`,
  );
  const size = db.prepare('SELECT coalesce(max(leaf) + 1, 0) AS size FROM entries');
  const lastAt = db.prepare('SELECT at FROM entries ORDER BY leaf DESC LIMIT 1');
  const newest = db.prepare('SELECT size, note, installation, vouched FROM heads ORDER BY size DESC LIMIT 1');
  const version = db.prepare('PRAGMA data_version');
  const nodes = db.prepare('SELECT hash, tree FROM entries WHERE leaf = ?');
  const head = (stream: string): Head => {
    const row = last.get(stream) as Pick<Head, 'seq' | 'hash'> | undefined;
    return { stream: stream as StreamName, seq: row?.seq ?? 0, hash: row?.hash ?? '' };
  };
  return {
    head,
    read: (stream: StreamName, fromSeq = 1): readonly Entry[] =>
      (entries.all(stream, fromSeq) as unknown as StoredEntry[]).map(entryOf),
    /** Of all streams. */
    readLeaves: (from: number, limit: number): readonly Entry[] =>
      (leaves.all(from, limit) as unknown as StoredEntry[]).map(entryOf),
    streams: (prefix = ''): readonly Head[] =>
      (names.all({ prefix }) as { stream: string }[]).map((row) => head(row.stream)),
    /** The last leaf's number plus one. */
    size: () => (size.get() as { size: number }).size,
    /** Of the log's last entry. */
    lastAt: () => (lastAt.get() as { at: string } | undefined)?.at,
    newestHead: () => headIn(newest.get()),
    /** Changes when another connection commits. */
    version: (): unknown => version.get()?.['data_version'],
    /** Throws `journal.damaged` if a node is missing. */
    node(level: number, index: number): Uint8Array {
      const { leaf, place } = placeOf(level, index);
      const node = nodeAt(nodes.get(leaf) as { hash: unknown; tree: unknown } | undefined, place);
      if (node !== undefined) return node;
      throw new LifeboatError('journal.damaged', `the log cannot be computed: entry ${leaf} is missing`, {
        hints: ['`lifeboat audit verify` says what else is missing; put the journal back from a backup'],
      });
    },
  };
}

/** In a damaged row the note can be anything: without text it counts as unsigned. */
export function headIn(row: unknown): StoredHead | undefined {
  const head = row as StoredHead | undefined;
  return head === undefined || typeof head.note === 'string' ? head : { ...head, note: '' };
}

/**
 * One state of the database for several statements. Without it, each statement takes and releases a read
 * lock, which costs more than most of them.
 */
export function prepareSnapshot(db: DatabaseSync): <T>(look: () => T) => T {
  const begin = db.prepare('BEGIN');
  const end = db.prepare('COMMIT');
  return (look) => {
    begin.run();
    try {
      return look();
    } finally {
      end.run();
    }
  };
}

/** SQLite's errors become `journal.damaged`, or `journal.unreadable` if the file is the cause. */
export function answer<T>(look: () => T): T {
  try {
    return look();
  } catch (error) {
    if (error instanceof LifeboatError) throw error;
    if (isUnreadable(error)) throw unreadable(DATABASE_FILE, error);
    throw new LifeboatError('journal.damaged', 'the journal cannot be read', {
      hints: ['`lifeboat audit verify` says what is damaged'],
      evidence: evidenceOf(error),
      cause: error,
    });
  }
}
