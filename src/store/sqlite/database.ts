import { existsSync, opendirSync, renameSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { namesIn } from '../../base/bounded-file.ts';
import { EXIT, LifeboatError, troubleWith } from '../../base/errors.ts';
import { makePrivateFile, makePrivateFolder } from '../../base/folders.ts';
import { show } from '../../base/text.ts';
import { holdersIn } from './stream-lock.ts';

export const DATABASE_FILE = 'lifeboat.db';

/** Milliseconds to wait for another process. Appends hold the lock for about one. */
const BUSY_TIMEOUT = 5_000;

/** Milliseconds between attempts where SQLite itself does not wait. */
const RETRY_MS = 10;

/**
 * Opens or creates the journal's database: WAL, with every commit synced to the disk. Throws
 * `journal.sqlite-too-old`, `journal.network`, `journal.version`, `journal.damaged`, `journal.home` if disk
 * or permissions do not allow it, and `journal.gone` or `journal.unreadable` if there was a journal and its
 * database is now empty or broken. `afterLoss`, after a person accepted it, replaces such a journal and
 * renames its remains.
 */
export function openDatabase(home: string, afterLoss = false): DatabaseSync {
  assertSqliteVersion(process.versions['sqlite']);
  const file = join(home, DATABASE_FILE);
  const earlier = prepareHome(home, file, afterLoss);
  return opened(file, () => {
    const db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT });
    return orClosed(db, () => {
      harden(db);
      if (earlier.traces && isHalfMade(db)) throw emptied(home);
      keepLog(db);
      db.exec('PRAGMA synchronous=FULL; PRAGMA fullfsync=ON; PRAGMA checkpoint_fullfsync=ON');
      if (pragma(db, 'journal_mode') !== 'wal') {
        throw new LifeboatError('journal.damaged', `${file} cannot use a write-ahead log`, {
          hints: ['set LIFEBOAT_HOME to a folder on a local disk'],
        });
      }
      createSchema(db);
      assertVersion(db, file);
    });
  });
}

/** Creates folder and file for their owner only, and looks for an earlier journal. */
function prepareHome(home: string, file: string, afterLoss: boolean): Earlier {
  try {
    makePrivateFolder(home);
    assertLocalFolder(home);
    assertSame(file);
    if (afterLoss && (isEmptied(file) || !isWhole(file))) setAside(file);
    const earlier = afterLoss ? NOTHING_EARLIER : earlierJournal(home, DATABASE_FILE);
    // SQLite takes a file without a header for a new database, and then deletes the log beside it.
    if ((earlier.log || earlier.traces) && isEmptied(file)) throw emptied(home);
    // SQLite gives -wal and -shm the database's mode: set it before SQLite opens the file.
    makePrivateFile(file);
    return earlier;
  } catch (error) {
    if (error instanceof LifeboatError) throw error;
    throw notOpened(file, error);
  }
}

/** Whether SQLite can read all of a database that has its log beside it. */
function isWhole(file: string): boolean {
  try {
    const db = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT });
    try {
      return pragma(db, 'quick_check(1)') === 'ok';
    } finally {
      db.close();
    }
  } catch (error) {
    if (isUnreadable(error)) return false;
    throw error;
  }
}

/** They do not belong to the next journal, and SQLite would delete them. */
function setAside(file: string): void {
  for (const name of [file, `${file}-wal`, `${file}-shm`])
    if (existsSync(name)) renameSync(name, `${name}.lost-${Date.now()}`);
}

/** Even while a run writes; never creates a database (`journal.none`). */
export function openDatabaseForReading(home: string): DatabaseSync {
  assertSqliteVersion(process.versions['sqlite']);
  const file = join(home, DATABASE_FILE);
  if (!existsSync(file)) throw noJournal(home);
  assertSame(file);
  return opened(file, () => {
    const db = readable(file);
    return orClosed(db, () => {
      if (isHalfMade(db)) throw noJournal(home);
    });
  });
}

/**
 * To read a database with a write-ahead log, SQLite needs two files beside it, which it cannot create on a
 * read-only disk. Without a log, the database file alone is the whole journal.
 */
function readable(file: string): DatabaseSync {
  const open = (path: string | URL) => {
    const db = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT });
    return orClosed(db, () => harden(db));
  };
  const db = open(file);
  try {
    pragma(db, 'user_version');
    return db;
  } catch (error) {
    // A log, even an empty one: another process has the database open.
    if (sqliteCode(error) !== SQLITE_CANTOPEN || existsSync(`${file}-wal`)) return db;
    db.close();
    const path = resolve(file).split(sep).map(encodeURIComponent).join('/');
    return open(new URL(`file://${path}?immutable=1`));
  }
}

/** `SQLITE_READONLY_ROLLBACK`: only the first write, the change to WAL, uses a rollback journal. */
const READONLY_ROLLBACK = 776;

/** Opening a pipe in place of the database would block forever. */
function assertSame(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) return;
  const what = stats.isDirectory() ? 'it is a folder' : 'it is not a plain file';
  throw new LifeboatError('journal.home', `${file} cannot be opened: ${what}`, {
    hints: ['nothing was started: put the journal itself there, or set LIFEBOAT_HOME to its folder'],
  });
}

/** A process that dies while creating the journal leaves no tables; the next writer creates them. */
function isHalfMade(db: DatabaseSync): boolean {
  try {
    if (pragma(db, 'user_version') !== 0) return false;
    return db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === READONLY_ROLLBACK) return true;
    throw error;
  }
}

function noJournal(home: string): LifeboatError {
  return new LifeboatError('journal.none', `there is no journal in ${home}`, {
    hints: ['LIFEBOAT_HOME names the folder that holds lifeboat.db'],
  });
}

/** SQLite 3.7.0 to 3.51.2 can corrupt a WAL database of two connections (sqlite.org/wal.html#walresetbug). */
export function assertSqliteVersion(version: string | undefined): void {
  const [major = 0, minor = 0, patch = 0] = (version ?? '').split('.').map(Number);
  const number = major * 1_000_000 + minor * 1_000 + patch;
  if (number >= 3_051_003) return;
  throw new LifeboatError(
    'journal.sqlite-too-old',
    `this Node includes SQLite ${version ?? 'of no version'}, which can damage a journal`,
    { hints: ['use the newest Node 24: its SQLite is newer than 3.51.3'] },
  );
}

/** Refuses a database written in a format that this version does not know. */
export function assertVersion(db: DatabaseSync, file: string): void {
  const version = pragma(db, 'user_version');
  if (version === SCHEMA_VERSION) return;
  throw new LifeboatError(
    'journal.version',
    `${file} has journal format ${String(version)}, this lifeboat knows format ${SCHEMA_VERSION}`,
    { hints: ['use the version of lifeboat that wrote it, or a newer one'] },
  );
}

/**
 * Switches to a write-ahead log. The first process to do so needs the file alone, and SQLite does not wait
 * for that: two first commands at once would refuse each other.
 */
function keepLog(db: DatabaseSync): void {
  const until = performance.now() + BUSY_TIMEOUT;
  for (;;) {
    try {
      db.exec('PRAGMA journal_mode=WAL');
      return;
    } catch (error) {
      if (sqliteCode(error) !== SQLITE_BUSY || performance.now() >= until) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}

/** Of a pragma with one row and one column. */
export function pragma(db: DatabaseSync, name: string): unknown {
  return Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}

/** A database is untrusted: its schema may call no functions, and corrupt cells are reported. */
function harden(db: DatabaseSync): void {
  db.enableDefensive(true);
  db.exec('PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0');
}

function createSchema(db: DatabaseSync): void {
  if (pragma(db, 'user_version') !== 0) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have created it between the check and the lock.
    if (pragma(db, 'user_version') === 0) {
      for (const sql of Object.values(SCHEMA)) db.exec(sql);
      db.exec(`PRAGMA user_version=${SCHEMA_VERSION}`);
    }
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** Closes the database if the check fails: a leaked connection would keep its locks. */
export function orClosed(db: DatabaseSync, look: () => void): DatabaseSync {
  try {
    look();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function opened(file: string, open: () => DatabaseSync): DatabaseSync {
  try {
    return open();
  } catch (error) {
    if (error instanceof LifeboatError) throw error;
    if (sqliteCode(error) === SQLITE_BUSY) throw busy(error, dirname(file));
    if (diskTrouble(error, file) !== undefined) throw notOpened(file, error);
    if (isUnreadable(error)) throw unreadable(file, error);
    throw new LifeboatError('journal.damaged', `${file} cannot be opened as a journal`, {
      hints: [
        'keep the file: `lifeboat audit verify` says what is left of it',
        'checkpoints show how far it went',
      ],
      evidence: evidenceOf(error),
      cause: error,
    });
  }
}

/** `f_type` of statfs(2) on Linux; other systems use other numbers. */
const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
]);

/** Throws `journal.network`: locks and shared memory are unreliable there. */
function assertLocalFolder(path: string): void {
  const kind = process.platform === 'linux' ? networkFileSystem(statfsSync(path).type) : undefined;
  if (kind === undefined) return;
  throw new LifeboatError('journal.network', `${path} is on a network file system (${kind})`, {
    hints: ['set LIFEBOAT_HOME to a folder on a local disk', 'checkpoints may be copied to a network folder'],
  });
}

/** Some kernels return `f_type` as a negative number. */
export function networkFileSystem(type: number): string | undefined {
  return NETWORK_FILE_SYSTEMS.get(type >>> 0);
}

/** In a home, left only by an earlier journal. */
interface Earlier {
  /** A write-ahead log that is not empty: creating a journal never leaves one beside an empty database. */
  readonly log: boolean;
  /** Stream locks or checkpoints: created only after the first entry could be written. */
  readonly traces: boolean;
}

const NOTHING_EARLIER: Earlier = { log: false, traces: false };

/** Call it before checking the database: another process may be creating it now, and leaves traces later. */
export function earlierJournal(home: string, databaseFile: string): Earlier {
  const log = statSync(join(home, `${databaseFile}-wal`), { throwIfNoEntry: false });
  return {
    log: log !== undefined && log.size > 0,
    traces: holdsAnything(join(home, 'locks')) || holdsCheckpoints(join(home, 'checkpoints')),
  };
}

/** Each log has its own folder there, named by its origin and created with its first checkpoint. */
function holdsCheckpoints(folder: string): boolean {
  return namesIn(folder).some((name) => ORIGIN.test(name) && holdsAnything(join(folder, name)));
}

const ORIGIN = /^[0-9a-f]{16}$/u;

/** Bytes (sqlite.org/fileformat2.html). */
const HEADER = 100;

/** Missing, or too short for a database. */
export function isEmptied(file: string): boolean {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat === undefined || (stat.isFile() && stat.size < HEADER);
}

/** A new journal in its place would look as if nothing had ever been sent. */
export function emptied(home: string): LifeboatError {
  return new LifeboatError('journal.gone', `the journal in ${home} is empty or gone, but there was one`, {
    hints: [
      'nothing was written: what earlier runs sent is not known any more',
      'put lifeboat.db and lifeboat.db-wal back from a backup, then `lifeboat audit verify`',
      'to begin a new journal on purpose: `lifeboat audit accept-loss --reason TEXT`',
    ],
  });
}

/** Every run leaves its lock file there: read only one name. */
function holdsAnything(folder: string): boolean {
  try {
    const names = opendirSync(folder, { bufferSize: 1 });
    try {
      return names.readSync() !== null;
    } finally {
      names.closeSync();
    }
  } catch {
    return false;
  }
}

/** `user_version`; a lifeboat opens only its own version. */
const SCHEMA_VERSION = 2;

const APPEND_ONLY = "BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END";

/** By name, exactly as in `sqlite_schema.sql`: an audit compares it character by character. */
export const SCHEMA: Readonly<Record<string, string>> = {
  // `tree` holds the nodes that the leaf completes (log/merkle.ts), 32 bytes each.
  entries:
    'CREATE TABLE entries (leaf INTEGER PRIMARY KEY, stream TEXT NOT NULL, seq INTEGER NOT NULL, at TEXT NOT NULL, ' +
    'by TEXT NOT NULL, type TEXT NOT NULL, body TEXT NOT NULL, hash BLOB NOT NULL, tree BLOB NOT NULL) STRICT',
  entries_by_stream: 'CREATE UNIQUE INDEX entries_by_stream ON entries (stream, seq)',
  // They stop accidents with a database tool. A forger removes them first, but cannot sign new heads.
  entries_no_update: `CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries ${APPEND_ONLY}`,
  entries_no_delete: `CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries ${APPEND_ONLY}`,
  heads:
    'CREATE TABLE heads (size INTEGER PRIMARY KEY, note TEXT NOT NULL, installation TEXT NOT NULL, ' +
    'vouched INTEGER NOT NULL) STRICT',
  heads_no_update: `CREATE TRIGGER heads_no_update BEFORE UPDATE ON heads ${APPEND_ONLY}`,
  heads_no_delete: `CREATE TRIGGER heads_no_delete BEFORE DELETE ON heads ${APPEND_ONLY}`,
  holds: 'CREATE TABLE holds (resource TEXT PRIMARY KEY, token INTEGER NOT NULL) STRICT, WITHOUT ROWID',
  // Follow from the entries: `doctor --deep` compares them, another version rebuilds them.
  projections:
    'CREATE TABLE projections (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID',
  rows:
    'CREATE TABLE rows (projection TEXT NOT NULL, key TEXT NOT NULL, grp TEXT NOT NULL, sort TEXT NOT NULL, ' +
    'value TEXT NOT NULL, PRIMARY KEY (projection, key)) STRICT, WITHOUT ROWID',
  rows_by_group: 'CREATE INDEX rows_by_group ON rows (projection, grp, sort)',
  rows_by_sort: 'CREATE INDEX rows_by_sort ON rows (projection, sort)',
};

/** The message, verbatim. */
export function evidenceOf(thrown: unknown): { readonly error: string } {
  return { error: thrown instanceof Error ? thrown.message : String(thrown) };
}

/** The primary result code (`SQLITE_BUSY` is 5), if this is an error of `node:sqlite`. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

export const SQLITE_BUSY = 5;

/** A file that is truncated, corrupt, or not a database (SQLITE_CORRUPT, SQLITE_NOTADB). */
const UNREADABLE: ReadonlySet<number> = new Set([11, 26]);

/** The file itself, as opposed to its disk. */
export function isUnreadable(error: unknown): boolean {
  return UNREADABLE.has(sqliteCode(error) ?? 0);
}

/** For a database (`evidence.file`) that was, for instance, copied without its write-ahead log. */
export function unreadable(file: string, cause: unknown): LifeboatError {
  const { error: why } = evidenceOf(cause);
  return new LifeboatError('journal.unreadable', `${show(file, 120)} cannot be read: ${show(why, 120)}`, {
    hints: [
      'nothing was written: ' +
        'put lifeboat.db and lifeboat.db-wal back from the newest copy, then `lifeboat audit verify`',
      'or, when there is none: `lifeboat audit accept-loss --reason TEXT` sets it aside and begins a new journal',
    ],
    evidence: { error: why, file },
    exitCode: EXIT.inDoubt,
    cause,
  });
}

/** For the disk, not the file: no permission, read-only, I/O error, full, cannot open. */
const DISK_TROUBLE: ReadonlySet<number> = new Set([3, 8, 10, 13, 14]);

/** The trouble with disk, permissions or path; undefined for any other error. */
export function diskTrouble(error: unknown, path = ''): string | undefined {
  return DISK_TROUBLE.has(sqliteCode(error) ?? 0) ? troubleWith(path, error).why : undefined;
}

/** A file beside the database cannot be opened or created. */
const SQLITE_CANTOPEN = 14;

/** The journal itself appears to be intact. */
function notOpened(file: string, cause: unknown): LifeboatError {
  const { why, advice } = troubleWith(file, cause);
  return new LifeboatError('journal.home', `${show(file, 120)} cannot be opened: ${why}`, {
    hints: [
      `nothing was started: ${advice}`,
      'LIFEBOAT_HOME names its folder',
      'to read a journal on a read-only disk, copy its folder elsewhere and set LIFEBOAT_HOME to the copy',
    ],
    evidence: evidenceOf(cause),
    cause,
  });
}

/** Locked beyond the timeout, probably by a process with a lock in this home. */
export function busy(cause: unknown, home: string): LifeboatError {
  return new LifeboatError('journal.busy', 'another process keeps the journal locked', {
    hints: [
      'nothing was written: wait for the other process, then go on',
      ...holdersIn(home).map((holder) => `it may be ${holder}: continue it if it was stopped`),
    ],
    cause,
  });
}
