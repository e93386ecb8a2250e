import { EXIT, LifeboatError, troubleWith } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { holdersIn } from './stream-lock.ts';

/** The message of an error, verbatim, as evidence in ours. */
export function evidenceOf(thrown: unknown): { readonly error: string } {
  return { error: thrown instanceof Error ? thrown.message : String(thrown) };
}

/** The primary result code of SQLite (`SQLITE_BUSY` is 5) if this is an error of `node:sqlite`. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

export const SQLITE_BUSY = 5;

/**
 * SQLite's codes for a file that is truncated, corrupt, or not a database (SQLITE_CORRUPT, SQLITE_NOTADB).
 */
const UNREADABLE: ReadonlySet<number> = new Set([11, 26]);

/** Whether the file itself is unreadable, as opposed to its disk. */
export function isUnreadable(error: unknown): boolean {
  return UNREADABLE.has(sqliteCode(error) ?? 0);
}

/**
 * The database (`evidence.file`) cannot be read, for instance because it was copied without its write-ahead
 * log.
 */
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

/** SQLite's codes for the disk, not the file: no permission, read-only, I/O error, full, cannot open. */
const DISK_TROUBLE: ReadonlySet<number> = new Set([3, 8, 10, 13, 14]);

/** The problem with the disk, the permissions or the path, in words; undefined for any other error. */
export function diskTrouble(error: unknown, path = ''): string | undefined {
  return DISK_TROUBLE.has(sqliteCode(error) ?? 0) ? troubleWith(path, error).why : undefined;
}

/** A file beside the database cannot be opened or created. */
export const SQLITE_CANTOPEN = 14;

/** The journal cannot be opened, but itself appears to be intact. */
export function notOpened(file: string, cause: unknown): LifeboatError {
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

/** Another process keeps the database locked beyond the timeout; probably one with a lock in this home. */
export function busy(cause: unknown, home: string): LifeboatError {
  return new LifeboatError('journal.busy', 'another process keeps the journal locked', {
    hints: [
      'nothing was written: wait for the other process, then go on',
      ...holdersIn(home).map((holder) => `it may be ${holder}: continue it if it was stopped`),
    ],
    cause,
  });
}
