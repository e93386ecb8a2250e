import { opendirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '../../base/bounded-file.ts';
import { LifeboatError } from '../../base/errors.ts';

/** What in a home can only be there after a journal was. */
export interface Earlier {
  /** A write-ahead log with something in it. Who makes a journal never has one beside an empty database. */
  readonly log: boolean;
  /** Locks of streams or checkpoints, which are made after the first entry could be written. */
  readonly traces: boolean;
}

export const NOTHING_EARLIER: Earlier = { log: false, traces: false };

/**
 * Looks for the traces of an earlier journal. To be asked before the database is looked at: another process
 * may be making it just now, and what it leaves behind comes after the database.
 */
export function earlierJournal(home: string, databaseFile: string): Earlier {
  const log = statSync(join(home, `${databaseFile}-wal`), { throwIfNoEntry: false });
  return {
    log: log !== undefined && log.size > 0,
    traces: holdsAnything(join(home, 'locks')) || holdsCheckpoints(join(home, 'checkpoints')),
  };
}

/** Each log has a folder of its own there, named by its origin, which is made with its first checkpoint. */
function holdsCheckpoints(folder: string): boolean {
  return namesIn(folder).some((name) => ORIGIN.test(name) && holdsAnything(join(folder, name)));
}

const ORIGIN = /^[0-9a-f]{16}$/u;

/** Bytes. A database begins with as many (sqlite.org/fileformat2.html). */
const HEADER = 100;

/** Whether the database is not there, or too short to be one. */
export function isEmptied(file: string): boolean {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat === undefined || (stat.isFile() && stat.size < HEADER);
}

/** A fresh journal in the place of an old one would look as if nothing had ever been sent. */
export function emptied(home: string): LifeboatError {
  return new LifeboatError('journal.gone', `the journal in ${home} is empty or gone, but there was one`, {
    hints: [
      'nothing was written: what earlier runs sent is not known any more',
      'put lifeboat.db and lifeboat.db-wal back from a backup, then `lifeboat audit verify`',
      'to begin a new journal on purpose: `lifeboat audit accept-loss --reason TEXT`',
    ],
  });
}

/** Every run leaves its lock file there, so no more than one name is read. */
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
