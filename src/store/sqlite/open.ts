import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { LifeboatError } from '../../base/errors.ts';
import { ascii } from '../canonical.ts';
import {
  type Hold,
  type Journal,
  type JournalReader,
  LOG_STREAM,
  type NewEntry,
  type StreamName,
} from '../journal.ts';
import { lossesIn } from '../log/log-entries.ts';
import type { Signer } from '../log/signer.ts';
import { prepareEntry, storableName } from '../new-entry.ts';
import type { Projection } from '../projections/projection.ts';
import { createFollowers, createWakes, type Followers } from '../reading.ts';
import { createSecretGuard } from '../secret-guard.ts';
import {
  assertVersion,
  busy,
  DATABASE_FILE,
  diskTrouble,
  earlierJournal,
  emptied,
  evidenceOf,
  isEmptied,
  openDatabase,
  openDatabaseForReading,
  orClosed,
  SQLITE_BUSY,
  sqliteCode,
} from './database.ts';
import { createLog } from './log.ts';
import { answer, prepareQueries, type Queries } from './queries.ts';
import { askRows, changedRows, refreshProjections } from './rows.ts';
import { holderOf, lockStream, type StreamLock, watchFile } from './stream-lock.ts';
import { prepareWriter, readTip } from './write.ts';

export interface SqliteStoreOptions {
  /** `$LIFEBOAT_HOME`. Created with mode 0700 if missing; its `lifeboat.db` has mode 0600. */
  readonly home: string;
  /** For the entries' `by`. Cut to 200 characters. */
  readonly by: string;
  readonly signer: Signer;
  /** Kept with each append; rebuilt here if another version kept them. */
  readonly projections: readonly Projection[];
  readonly now?: () => Date;
  /** After a person accepted that the journal is gone: begins a new one, and renames the remains. */
  readonly afterLoss?: boolean;
  /** Rebuild the projections' rows from the entries. */
  readonly rebuild?: boolean;
  /** After a person accepted that the last rows are gone: also removes the heads signed over them. */
  readonly setBack?: boolean;
}

/**
 * Opens the journal of one machine, on SQLite. Appends are on the disk when they resolve, so an acknowledged
 * entry survives a crash or a power cut. Several processes may have it open; a hold admits one writer per
 * stream. Rejects with `journal.sqlite-too-old`, `journal.network`, `journal.version`, `journal.damaged`,
 * `journal.busy`, `journal.home`, or `journal.gone` if there was a journal.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Journal> {
  const { home, signer, projections, now = () => new Date() } = options;
  const by = storableName(options.by);
  const db = openDatabase(home, options.afterLoss);
  const queries = prepareQueries(db);
  const refresh = { all: options.rebuild, signer, step: () => stepHere(queries) };
  orClosed(db, () => inWords(home, () => refreshProjections(db, queries, projections, refresh)));
  const { followers, ...reader } = createReader(home, db, queries, projections);
  const writer = prepareWriter(db, queries, { by, signer, projections, setBack: options.setBack });
  const secrets = createSecretGuard();
  const wakes = createWakes();
  const assertSameFile = watchFile(join(home, DATABASE_FILE));
  let vouched = 0;
  let lost: LifeboatError | undefined;

  const assertStillOpen = () => {
    if (!db.isOpen) throw new LifeboatError('journal.closed', 'the journal is closed');
  };
  const write = <T>(work: () => T): T => {
    if (lost !== undefined) throw lost;
    assertStillOpen();
    try {
      const done = inWords(home, work);
      assertSameFile();
      return done;
    } catch (error) {
      if (error instanceof LifeboatError && error.code === 'journal.lost') lost = error;
      // A process about to send something checks its holds, whatever failed.
      holds.look();
      throw error;
    }
  };
  const holds = createHolds(home, (stream) => write(() => writer.nextToken(stream)), assertSameFile);
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
    async append(entries, given, woken = [], under = []) {
      assertStillOpen();
      if (entries.length === 0) return [];
      const prepared = entries.map(prepare);
      const proven = holds.among(entries, given, under);
      const assertHoldsLast = () => holds.assertHoldsLast(proven.values());
      const context = { at: now().toISOString(), vouched, assertHoldsLast };
      const written = write(() => writer.append(prepared, proven, context));
      followers.tell();
      wakes.tell(woken);
      return written;
    },
    onWake: wakes.onWake,
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
 * Read-only, even while a run is live; each call sees what is durable by then. Rejects with `journal.none`,
 * `journal.version`, `journal.damaged`, or `journal.gone`.
 */
export async function openSqliteForReading(options: {
  readonly home: string;
  readonly projections: readonly Projection[];
}): Promise<JournalReader> {
  const { home, projections } = options;
  const db = openExisting(home);
  const queries = answer(() => {
    orClosed(db, () => assertVersion(db, join(home, DATABASE_FILE)));
    return prepareQueries(db);
  });
  const { followers: _, log, ...reader } = createReader(home, db, queries, projections);
  return { ...reader, log: { ...log, vouch: () => undefined } };
}

/** The verified end of the log; undefined if it is not what was signed, which does not prevent opening. */
function stepHere(queries: Queries) {
  try {
    const { frontier, said } = readTip(queries);
    const lost = lossesIn(queries.read(LOG_STREAM)).reduce((sum, { rowsMissing }) => sum + rowsMissing, 0);
    return { said, before: frontier.size, after: frontier.size, lost };
  } catch (error) {
    if (error instanceof LifeboatError && error.code === 'journal.damaged') return undefined;
    throw error;
  }
}

/** Followers look for other processes' entries at this interval. Milliseconds. */
const LOOK_EVERY = 150;

function createReader(home: string, db: DatabaseSync, queries: Queries, projections: readonly Projection[]) {
  const followers = createFollowers({
    look: async (from, most) => answer(() => queries.readLeaves(from, most)),
    every: LOOK_EVERY,
  });
  const rows = askRows(db, queries, projections);
  return {
    followers,
    log: createLog(db, queries, () => changedRows(db, queries, projections)),
    clock: async () => () => new Date(),
    read: async (stream, fromSeq) => answer(() => queries.read(stream, fromSeq)),
    head: async (stream) => answer(() => queries.head(stream)),
    streams: async (prefix) => answer(() => queries.streams(prefix)),
    follow: followers.follow,
    holder: async (stream) => holderOf(home, stream),
    rows: async (projection, query) => answer(() => rows(projection, query)),
    async close() {
      followers.end();
      if (db.isOpen) db.close();
    },
  } satisfies Omit<JournalReader, 'log'> & { readonly followers: Followers; readonly log: object };
}

/** A failed write that may have left something behind is `journal.lost`. */
function inWords<T>(home: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof LifeboatError) throw error;
    if (sqliteCode(error) === SQLITE_BUSY) throw busy(error, home);
    // A bug, for instance in a projection: rolled back, and not about the disk.
    if (sqliteCode(error) === undefined) throw error;
    const trouble = diskTrouble(error) ?? 'SQLite cannot go on';
    throw new LifeboatError('journal.lost', `the journal could not be written to the disk: ${trouble}`, {
      hints: [
        'no further step is taken: what is not written down is not done',
        'free space or repair the disk, then `lifeboat resume`: it looks at the service first',
      ],
      evidence: evidenceOf(error),
      cause: error,
    });
  }
}

function openExisting(home: string): DatabaseSync {
  // Before opening: another process may be creating the journal now.
  const earlier = earlierJournal(home, DATABASE_FILE);
  try {
    return openDatabaseForReading(home);
  } catch (error) {
    const isNone = error instanceof LifeboatError && error.code === 'journal.none';
    const wasThere = earlier.traces || (earlier.log && isEmptied(join(home, DATABASE_FILE)));
    throw isNone && wasThere ? emptied(home) : error;
  }
}

/** Of one journal in one home. */
interface Holds {
  /** Locks the stream and takes its next token. */
  take(stream: StreamName, since: Date): Hold;
  /** By stream. Throws `journal.unheld` if one is missing. */
  among(
    entries: readonly NewEntry[],
    holds: readonly Hold[],
    under: readonly Hold[],
  ): ReadonlyMap<StreamName, Hold>;
  /** Throws `journal.lost-hold` if a lock file shows that one is lost. */
  assertHoldsLast(holds: Iterable<Hold>): void;
  /** Marks all holds that are lost. */
  look(): void;
  releaseAll(): void;
}

/** Private, so that an append with a copy of a hold, or with another home's, is rejected. */
interface Held {
  readonly home: string;
  readonly lock: StreamLock;
}

const behind = new WeakMap<Hold, Held>();

/** `assertSameFile` throws if the database itself was replaced (`watchFile`). */
function createHolds(
  home: string,
  nextToken: (resource: StreamName) => number,
  assertSameFile: () => void,
): Holds {
  const mine = new Set<Hold>();

  const hold = (resource: StreamName, token: number, lock: StreamLock): Hold => {
    const lost = new AbortController();
    const look = () => {
      const why = lost.signal.aborted || !lock.isHeld() ? undefined : whyLost(lock, assertSameFile);
      if (why !== undefined) lost.abort(lostHold(resource, why));
      return lock.isHeld() && !lost.signal.aborted;
    };
    return {
      resource,
      token,
      lost: lost.signal,
      lasts: () => (look() ? Number.POSITIVE_INFINITY : 0),
      async release() {
        lock.release();
      },
    };
  };

  return {
    take(stream, since) {
      const lock = lockStream(home, stream, since);
      try {
        const taken = hold(stream, nextToken(stream), lock);
        behind.set(taken, { home, lock });
        mine.add(taken);
        return taken;
      } catch (error) {
        lock.release();
        throw error;
      }
    },
    among(entries, holds, under) {
      const live = [...holds, ...under].filter((one) => {
        const its = behind.get(one);
        return its?.home === home && its.lock.isHeld();
      });
      const byStream = new Map(live.map((one) => [one.resource, one]));
      for (const { stream } of entries)
        if (stream !== LOG_STREAM && !byStream.has(stream)) throw unheld(stream);
      for (const { resource } of under) if (!byStream.has(resource)) throw unheld(resource);
      return byStream;
    },
    assertHoldsLast(holds) {
      for (const one of holds)
        if (one.lost.aborted || behind.get(one)?.lock.isWhole() === false)
          throw lostHold(one.resource, LOCK_GONE);
    },
    look() {
      for (const one of mine) one.lasts();
    },
    releaseAll() {
      for (const one of mine) behind.get(one)?.lock.release();
      mine.clear();
    },
  };
}

/** The end of a sentence; undefined if the hold stands. */
function whyLost(lock: StreamLock, assertSameFile: () => void): string | undefined {
  try {
    assertSameFile();
    return lock.isWhole() ? undefined : LOCK_GONE;
  } catch (error) {
    return error instanceof LifeboatError ? error.shortMessage : 'the journal cannot be inspected';
  }
}

function unheld(stream: StreamName): LifeboatError {
  return new LifeboatError('journal.unheld', `${stream} is written without the right to`, {
    hints: ['nothing was written', 'this is a bug in lifeboat: please report it'],
  });
}

const LOCK_GONE = 'its lock was removed or replaced';

function lostHold(resource: StreamName, why: string): LifeboatError {
  return new LifeboatError('journal.lost-hold', `the right to write ${resource} is lost: ${why}`, {
    hints: ['no further step is taken', 'move nothing below LIFEBOAT_HOME while a run is live'],
  });
}
