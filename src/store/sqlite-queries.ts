import type { DatabaseSync } from 'node:sqlite';
import { LifeboatError } from '../errors.ts';
import type { Row } from './chain.ts';
import { type Entry, type Head, type StreamName, ZERO_HASH } from './journal.ts';
import { entryOf } from './new-entry.ts';

export interface Queries {
  read(stream: StreamName, fromSeq?: number): readonly Entry[];
  head(stream: StreamName): Head;
  streams(prefix?: string): readonly Head[];
}

/** The questions both the writer and the reader ask. */
export function prepareQueries(db: DatabaseSync): Queries {
  const entries = db.prepare(
    'SELECT stream, seq, at, by, type, body, prev, hash FROM entries WHERE stream = ? AND seq >= ? ORDER BY seq',
  );
  const last = db.prepare('SELECT seq, hash FROM entries WHERE stream = ? ORDER BY seq DESC LIMIT 1');
  // Hops from one stream to the next by the primary key: a look at all heads must not read all entries.
  const names = db.prepare(
    `WITH RECURSIVE hop(stream) AS (
       SELECT min(stream) FROM entries WHERE stream >= :prefix
       UNION ALL
       SELECT (SELECT min(stream) FROM entries WHERE stream > hop.stream) FROM hop WHERE hop.stream IS NOT NULL
     ) SELECT stream FROM hop WHERE substr(stream, 1, length(:prefix)) = :prefix`,
  );
  const head = (stream: StreamName): Head => {
    const row = last.get(stream) as Pick<Row, 'seq' | 'hash'> | undefined;
    return { stream, seq: row?.seq ?? 0, hash: row?.hash ?? ZERO_HASH };
  };
  return {
    head,
    read: (stream, fromSeq = 1) => (entries.all(stream, fromSeq) as unknown as Row[]).map(entryOf),
    streams: (prefix = '') =>
      (names.all({ prefix }) as { stream: StreamName }[]).map((row) => head(row.stream)),
  };
}

/** Gives what a look at the database gives; whatever SQLite throws becomes `journal.damaged`. */
export function answer<T>(look: () => T): T {
  try {
    return look();
  } catch (error) {
    if (error instanceof LifeboatError) throw error;
    throw new LifeboatError('journal.damaged', 'the journal cannot be read', {
      hints: ['`lifeboat audit verify` says what is damaged'],
      evidence: {
        error: error instanceof Error ? error.message : String(error),
      },
      cause: error,
    });
  }
}
