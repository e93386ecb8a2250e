import { opendirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '../../base/bounded-file.ts';
import { LifeboatError } from '../../base/errors.ts';

/** Traces in a home that only an earlier journal can have left. */
export interface Earlier {
  /** A non-empty write-ahead log. Creating a journal never leaves one beside an empty database. */
  readonly log: boolean;
  /** Stream locks or checkpoints, which are created only after the first entry could be written. */
  readonly traces: boolean;
}

export const NOTHING_EARLIER: Earlier = { log: false, traces: false };

/**
 * Looks for traces of an earlier journal. Call it before checking the database: another process may be
 * creating the database now, and leaves its traces after it.
 */
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

/** The size of a database's header in bytes (sqlite.org/fileformat2.html). */
const HEADER = 100;

/** Whether the database is missing, or too short to be one. */
export function isEmptied(file: string): boolean {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat === undefined || (stat.isFile() && stat.size < HEADER);
}

/** A new journal in place of an old one would look as if nothing had ever been sent. */
export function emptied(home: string): LifeboatError {
  return new LifeboatError('journal.gone', `the journal in ${home} is empty or gone, but there was one`, {
    hints: [
      'nothing was written: what earlier runs sent is not known any more',
      'put lifeboat.db and lifeboat.db-wal back from a backup, then `lifeboat audit verify`',
      'to begin a new journal on purpose: `lifeboat audit accept-loss --reason TEXT`',
    ],
  });
}

/** Every run leaves its lock file there, so read only one name. */
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
