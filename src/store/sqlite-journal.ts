import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { LifeboatError } from '../errors.ts';
import type { Row } from './chain.ts';
import { createDelivery } from './delivery.ts';
import { watchFile } from './file-watch.ts';
import type { Head, Hold, Journal, NewEntry } from './journal.ts';
import { entryOf, rowAfter } from './new-entry.ts';
import { createSecretGuard } from './secret-guard.ts';
import { DATABASE_FILE, openDatabase } from './sqlite-database.ts';
import { busy, diskTrouble, SQLITE_BUSY, sqliteCode } from './sqlite-errors.ts';
import { answer, prepareQueries, type Queries } from './sqlite-queries.ts';
import { holdStream } from './stream-lock.ts';

export interface SqliteJournalOptions {
  /** `$LIFEBOAT_HOME`. Created with mode 0700 when missing; the database in it is `lifeboat.db`, mode 0600. */
  readonly home: string;
  /** Who acts, for the entries' `by`. Cut to 200 characters. */
  readonly by: string;
  readonly now?: () => Date;
}

/**
 * Opens the journal of one machine, on SQLite. Appends are synced to the disk before they resolve, so what was
 * acknowledged is there after a crash or a power cut. Several processes may have it open; writers of one stream are
 * kept apart by `hold` and by the expected heads. Rejects with `journal.sqlite-too-old`, `journal.network`,
 * `journal.version`, `journal.damaged` or `journal.busy`.
 */
export async function openSqliteJournal(options: SqliteJournalOptions): Promise<Journal> {
  const { home, now = () => new Date() } = options;
  const db = openDatabase(home);
  const queries = prepareQueries(db);
  const secrets = createSecretGuard();
  const by = options.by.toWellFormed().slice(0, 200);
  const write = prepareWrite(db, queries, (tip, entry, at) => {
    const row = rowAfter(tip, entry, at, by);
    secrets.check(`${row.stream} ${row.type} ${row.by} ${row.body}`, `entry ${row.type} of ${row.stream}`);
    return row;
  });
  const refuseOtherFile = watchFile(join(home, DATABASE_FILE));
  const delivery = createDelivery();
  const holds = new Set<Hold>();
  let lost: LifeboatError | undefined;

  const append = (entries: readonly NewEntry[], expected: readonly Head[]): readonly Row[] => {
    if (lost !== undefined) throw lost;
    if (!db.isOpen) throw new LifeboatError('journal.closed', 'the journal is closed');
    try {
      const rows = write(entries, expected, now().toISOString());
      refuseOtherFile();
      return rows;
    } catch (error) {
      if (error instanceof LifeboatError && error.code !== 'journal.lost') throw error;
      if (sqliteCode(error) === SQLITE_BUSY) throw busy(error, home);
      lost = error instanceof LifeboatError ? error : lostBy(error);
      throw lost;
    }
  };

  return {
    async append(entries, expected = []) {
      const written = append(entries, expected).map(entryOf);
      if (written.length > 0) delivery.send(written);
      return written;
    },
    read: async (stream, fromSeq) => answer(() => queries.read(stream, fromSeq)),
    head: async (stream) => answer(() => queries.head(stream)),
    streams: async (prefix) => answer(() => queries.streams(prefix)),
    guard: secrets.add,
    async hold(stream) {
      const hold = holdStream(home, stream, now());
      holds.add(hold);
      return hold;
    },
    onAppended: delivery.subscribe,
    async close() {
      for (const hold of holds) hold.release();
      if (db.isOpen) db.close();
    },
  };
}

type Tip = Pick<Row, 'seq' | 'hash'>;

/** One transaction: compare the heads, build each row on the one before it, insert. Any throw leaves nothing behind. */
function prepareWrite(
  db: DatabaseSync,
  queries: Queries,
  build: (tip: Tip, entry: NewEntry, at: string) => Row,
) {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const insert = db.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)');

  return (entries: readonly NewEntry[], expected: readonly Head[], at: string): readonly Row[] => {
    begin.run();
    try {
      const tips = new Map<string, Tip>(expected.map((head) => [head.stream, confirmed(head, queries)]));
      const rows = entries.map((entry) => {
        const row = build(tips.get(entry.stream) ?? queries.head(entry.stream), entry, at);
        insert.run(row.stream, row.seq, row.at, row.by, row.type, row.body, row.prev, row.hash);
        tips.set(row.stream, row);
        return row;
      });
      commit.run();
      return rows;
    } catch (error) {
      rollBack(db);
      throw error;
    }
  };
}

function confirmed(expected: Head, queries: Queries): Head {
  const actual = queries.head(expected.stream);
  if (actual.seq === expected.seq && actual.hash === expected.hash) return actual;
  throw new LifeboatError(
    'journal.conflict',
    `${expected.stream} is at entry ${actual.seq}, this writer believed in entry ${expected.seq}`,
    { hints: ['another process went on with it: read it again before acting'] },
  );
}

/** A failed write has often ended the transaction already, and the first error is the one that counts. */
function rollBack(db: DatabaseSync): void {
  try {
    if (db.isTransaction) db.exec('ROLLBACK');
  } catch {}
}

function lostBy(cause: unknown): LifeboatError {
  const trouble = diskTrouble(cause) ?? 'SQLite cannot go on';
  return new LifeboatError('journal.lost', `the journal could not be written to the disk: ${trouble}`, {
    hints: [
      'no further step is taken: what is not written down is not done',
      'free space or repair the disk, then `lifeboat resume`: it looks at the service first',
    ],
    evidence: {
      error: cause instanceof Error ? cause.message : String(cause),
    },
    cause,
  });
}
