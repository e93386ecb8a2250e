import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { LifeboatError } from '../errors.ts';

/** What in a home can only be there after a journal was. */
export interface Earlier {
  /** A write-ahead log with something in it. Whoever makes a journal has it for a moment too, but never beside an empty database. */
  readonly log: boolean;
  /** Locks of streams or checkpoints, which are made after the first entry could be written. */
  readonly traces: boolean;
}

/**
 * Looks for the traces of an earlier journal. To be asked before the database is looked at: another process may be making
 * it just now, and what it leaves behind comes after the database.
 */
export function earlierJournal(home: string, databaseFile: string): Earlier {
  const log = statSync(join(home, `${databaseFile}-wal`), { throwIfNoEntry: false });
  const folders = ['locks', 'checkpoints/run', 'checkpoints/instance'];
  return {
    log: log !== undefined && log.size > 0,
    traces: folders.some((folder) => holdsAnything(join(home, folder))),
  };
}

/** Bytes. A database begins with as many (sqlite.org/fileformat2.html). */
const HEADER = 100;

/** Whether the database is not there, or too short to be one. */
export function isEmptied(file: string): boolean {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat === undefined || (stat.isFile() && stat.size < HEADER);
}

/** A fresh journal in the place of an old one would look as if nothing had ever been sent. */
export function emptied(home: string): LifeboatError {
  return new LifeboatError('journal.gone', `the journal in ${home} is empty or gone, and there was one`, {
    hints: [
      'nothing was written: what earlier runs sent is not known any more',
      'put lifeboat.db and lifeboat.db-wal back from a backup, then `lifeboat audit verify`',
      'to begin a new journal on purpose, move the folders locks and checkpoints and lifeboat.db-wal away',
    ],
  });
}

function holdsAnything(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch {
    return false;
  }
}
