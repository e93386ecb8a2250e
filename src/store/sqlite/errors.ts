import { EXIT, LifeboatError, troubleWith } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { holdersIn } from './stream-lock.ts';

/** What an error says, word by word, for the evidence of ours. */
export function evidenceOf(thrown: unknown): { readonly error: string } {
  return { error: thrown instanceof Error ? thrown.message : String(thrown) };
}

/** The primary result code of SQLite (`SQLITE_BUSY` is 5) when this is an error of `node:sqlite`. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

export const SQLITE_BUSY = 5;

/** What SQLite says of a file that is cut, mixed up, or none of its own (SQLITE_CORRUPT, SQLITE_NOTADB). */
const UNREADABLE: ReadonlySet<number> = new Set([11, 26]);

/** Whether it is the file itself that cannot be read, whatever its disk does. */
export function isUnreadable(error: unknown): boolean {
  return UNREADABLE.has(sqliteCode(error) ?? 0);
}

/** The database (`evidence.file`) cannot be read, as when it was copied without its write-ahead log. */
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

/** What SQLite says of the disk, not of the file: no rights, read-only, an error, full, not opened. */
const DISK_TROUBLE: ReadonlySet<number> = new Set([3, 8, 10, 13, 14]);

/** What is wrong with the disk, the rights or the path, in words; undefined for anything else. */
export function diskTrouble(error: unknown, path = ''): string | undefined {
  return DISK_TROUBLE.has(sqliteCode(error) ?? 0) ? troubleWith(path, error).why : undefined;
}

/** A file beside the database cannot be opened or made. */
export const SQLITE_CANTOPEN = 14;

/** Nothing is wrong with the journal itself, as far as can be seen. */
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

/** Another process keeps the database for longer than the timeout; likely one with a lock in this home. */
export function busy(cause: unknown, home: string): LifeboatError {
  return new LifeboatError('journal.busy', 'another process keeps the journal locked', {
    hints: [
      'nothing was written: wait for the other process, then go on',
      ...holdersIn(home).map((holder) => `it may be ${holder}: continue it if it was stopped`),
    ],
    cause,
  });
}
