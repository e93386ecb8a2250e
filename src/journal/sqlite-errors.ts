import { LifeboatError } from '../errors.ts';
import { holdersIn } from './holders.ts';

/** The primary result code of SQLite (`SQLITE_BUSY` is 5) when this is an error of `node:sqlite`. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

export const SQLITE_BUSY = 5;
/** The file holds something else. */
export const SQLITE_NOTADB = 26;

/** What SQLite says of the disk below it and not of the file, by its primary result codes. */
const DISK_TROUBLE: Readonly<Record<number, string>> = {
  3: 'permission is denied',
  8: 'it is read-only',
  10: 'the disk reports an error',
  13: 'the disk is full',
  14: 'a file of it cannot be opened or made',
};

/** What is wrong with the disk or the rights, in words; undefined when it is the content that is wrong, or nothing of both. */
export function diskTrouble(error: unknown): string | undefined {
  const code = sqliteCode(error);
  return code === undefined ? undefined : DISK_TROUBLE[code];
}
/** A file beside the database cannot be opened or made. */
export const SQLITE_CANTOPEN = 14;

/** Nothing is wrong with the journal itself, as far as can be seen. */
export function notOpened(file: string, trouble: string, cause: unknown): LifeboatError {
  return new LifeboatError('journal.home', `${file} cannot be opened: ${trouble}`, {
    hints: [
      'nothing was begun: look at the rights of its folder and at the space on its disk',
      'to read a journal on a read-only disk, copy its folder elsewhere and set LIFEBOAT_HOME to the copy',
    ],
    evidence: { error: cause instanceof Error ? cause.message : String(cause) },
    cause,
  });
}

/** Another process keeps the database to itself for longer than the busy timeout; likely one of those that have a lock in this home. */
export function busy(cause: unknown, home: string): LifeboatError {
  return new LifeboatError('journal.busy', 'another process keeps the journal locked', {
    hints: [
      'nothing was written: wait for the other process, then go on',
      ...holdersIn(home).map((holder) => `it may be ${holder}: let it go on if it was stopped`),
    ],
    cause,
  });
}
