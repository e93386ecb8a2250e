import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { LifeboatError } from '../../base/errors.ts';
import type { Hold, Journal, JournalReader, NewEntry } from '../journal.ts';
import { ascii } from '../leaf.ts';
import type { Signer } from '../log/signer.ts';
import { prepareEntry, storableName } from '../new-entry.ts';
import type { Projection } from '../projections/projection.ts';
import { createSecretGuard } from '../secret-guard.ts';
import {
  DATABASE_FILE,
  openDatabase,
  openDatabaseForReading,
  orClosed,
  refuseOtherVersion,
} from './database.ts';
import { earlierJournal, emptied, isEmptied } from './earlier.ts';
import { busy, diskTrouble, SQLITE_BUSY, sqliteCode } from './errors.ts';
import { watchFile } from './file-watch.ts';
import { createFollowers } from './follow.ts';
import { holderOf } from './holders.ts';
import { createHolds } from './holds.ts';
import { createLog } from './log.ts';
import { answer, prepareQueries, type Queries } from './queries.ts';
import { askRows, refreshProjections } from './rows.ts';
import { prepareWriter } from './write.ts';

export interface SqliteStoreOptions {
  /**
   * `$LIFEBOAT_HOME`. Created with mode 0700 when missing; the database in it is `lifeboat.db`, mode 0600.
   */
  readonly home: string;
  /** Who acts, for the entries' `by`. Cut to 200 characters. */
  readonly by: string;
  /** Signs the head of each append. */
  readonly signer: Signer;
  /** Kept with each append; rebuilt here when another version kept them. */
  readonly projections: readonly Projection[];
  readonly now?: () => Date;
  /**
   * A person has accepted that the journal is gone: a new one begins, and what is left of the old one is set
   * aside.
   */
  readonly afterLoss?: boolean;
  /** Make the rows of the projections anew from the entries. */
  readonly rebuild?: boolean;
  /** A person has accepted that the last rows are gone: the heads that were signed over them go as well. */
  readonly setBack?: boolean;
}

/**
 * Opens the journal of one machine, on SQLite. Appends are synced to the disk before they resolve, so what
 * was acknowledged is there after a crash or a power cut. Several processes may have it open; writers of one
 * stream are kept apart by its hold. Rejects with `journal.sqlite-too-old`, `journal.network`,
 * `journal.version`, `journal.damaged`, `journal.busy`, `journal.home`, or `journal.gone` where there was a
 * journal.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Journal> {
  const { home, signer, projections, now = () => new Date() } = options;
  const by = storableName(options.by);
  const db = openDatabase(home, options.afterLoss);
  const queries = prepareQueries(db);
  orClosed(db, () => inWords(home, () => refreshProjections(db, queries, projections, options.rebuild)));
  const { followers, ...reader } = createReader(home, db, queries, projections);
  const writer = prepareWriter(db, queries, { by, signer, projections, setBack: options.setBack });
  const secrets = createSecretGuard();
  const refuseOtherFile = watchFile(join(home, DATABASE_FILE));
  let vouched = 0;
  let lost: LifeboatError | undefined;

  const write = <T>(work: () => T): T => {
    if (lost !== undefined) throw lost;
    if (!db.isOpen) throw new LifeboatError('journal.closed', 'the journal is closed');
    try {
      const done = inWords(home, work);
      refuseOtherFile();
      return done;
    } catch (error) {
      if (error instanceof LifeboatError && error.code === 'journal.lost') lost = error;
      // Whatever it is that has failed, whoever is about to send something asks its holds.
      holds.look();
      throw error;
    }
  };
  const holds = createHolds(home, (stream) => write(() => writer.nextToken(stream)), refuseOtherFile);
  const prepare = (entry: NewEntry) => {
    const prepared = prepareEntry(entry);
    const { stream, type, body } = prepared;
    secrets.check(`${stream} ${type} ${ascii(by)} ${body}`, `entry ${type} of ${stream}`);
    return prepared;
  };

  return {
    ...reader,
    stampedBy: 'machine',
    clock: async () => now,
    async append(entries, given) {
      if (!db.isOpen) throw new LifeboatError('journal.closed', 'the journal is closed');
      if (entries.length === 0) return [];
      const prepared = entries.map(prepare);
      const proven = holds.among(entries, given);
      const refuseLost = () => holds.refuseLost(proven.values());
      const context = { at: now().toISOString(), vouched, refuseLost };
      const written = write(() => writer.append(prepared, proven, context));
      followers.wake();
      return written;
    },
    hold: async (stream): Promise<Hold> => holds.take(stream, now()),
    guard: secrets.add,
    log: {
      ...reader.log,
      vouch(size) {
        vouched = Math.max(vouched, size);
      },
    },
    async close() {
      holds.releaseAll();
      await reader.close();
    },
  };
}

/**
 * Opens the journal of `home` for looking only: works while a run is live, sees at each call what is durable
 * then, never creates a database. Rejects with `journal.none`, `journal.version`, `journal.damaged`, or
 * `journal.gone` where there was one.
 */
export async function openSqliteForReading(options: {
  readonly home: string;
  readonly projections: readonly Projection[];
}): Promise<JournalReader> {
  const { home, projections } = options;
  const db = openExisting(home);
  const queries = answer(() => {
    orClosed(db, () => refuseOtherVersion(db, home));
    return prepareQueries(db);
  });
  const { followers: _, log, ...reader } = createReader(home, db, queries, projections);
  return { ...reader, log: { ...log, vouch: () => undefined } };
}

function createReader(home: string, db: DatabaseSync, queries: Queries, projections: readonly Projection[]) {
  const followers = createFollowers(
    (from, limit) => answer(() => queries.readLeaves(from, limit)),
    () => answer(queries.version),
  );
  const rows = askRows(db, queries, projections);
  const { read, head, streams, log } = {
    read: async (...[stream, fromSeq]: Parameters<Queries['read']>) =>
      answer(() => queries.read(stream, fromSeq)),
    head: async (...[stream]: Parameters<JournalReader['head']>) => answer(() => queries.head(stream)),
    streams: async (prefix?: string) => answer(() => queries.streams(prefix)),
    log: createLog(db, queries),
  };
  return {
    clock: async () => () => new Date(),
    read,
    head,
    streams,
    log,
    followers,
    follow: followers.follow,
    holder: async (...[stream]: Parameters<JournalReader['holder']>) => holderOf(home, stream),
    rows: async (...[projection, query]: Parameters<JournalReader['rows']>) =>
      answer(() => rows(projection, query)),
    async close() {
      followers.end();
      if (db.isOpen) db.close();
    },
  };
}

/** What SQLite says of a write, in words: what is not known to have left nothing behind is `journal.lost`. */
function inWords<T>(home: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof LifeboatError) throw error;
    if (sqliteCode(error) === SQLITE_BUSY) throw busy(error, home);
    // A bug, for instance in a projection: it was rolled back and says nothing of the disk.
    if (sqliteCode(error) === undefined) throw error;
    const trouble = diskTrouble(error) ?? 'SQLite cannot go on';
    throw new LifeboatError('journal.lost', `the journal could not be written to the disk: ${trouble}`, {
      hints: [
        'no further step is taken: what is not written down is not done',
        'free space or repair the disk, then `lifeboat resume`: it looks at the service first',
      ],
      evidence: {
        error: error instanceof Error ? error.message : String(error),
      },
      cause: error,
    });
  }
}

function openExisting(home: string): DatabaseSync {
  // Looked for first: another process may be making the journal just now.
  const earlier = earlierJournal(home, DATABASE_FILE);
  try {
    return openDatabaseForReading(home);
  } catch (error) {
    const isNone = error instanceof LifeboatError && error.code === 'journal.none';
    const wasThere = earlier.traces || (earlier.log && isEmptied(join(home, DATABASE_FILE)));
    throw isNone && wasThere ? emptied(home) : error;
  }
}
