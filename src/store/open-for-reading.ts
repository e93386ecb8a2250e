import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { LifeboatError } from '../errors.ts';
import { earlierJournal, emptied, isEmptied } from './earlier.ts';
import type { JournalReader } from './journal.ts';
import { DATABASE_FILE, openDatabaseForReading, orClosed, refuseOtherVersion } from './sqlite-database.ts';
import { answer, prepareQueries } from './sqlite-queries.ts';

/**
 * Opens the journal of `home` for looking only: works while a run is live, sees at each call what is durable then, never
 * creates a database. Rejects with `journal.none`, `journal.version`, `journal.damaged`, or `journal.gone` where there was one.
 */
export async function openForReading(options: { readonly home: string }): Promise<JournalReader> {
  const db = openExisting(options.home);
  const queries = answer(() => {
    orClosed(db, () => refuseOtherVersion(db, options.home));
    return prepareQueries(db);
  });
  return {
    read: async (stream, fromSeq) => answer(() => queries.read(stream, fromSeq)),
    head: async (stream) => answer(() => queries.head(stream)),
    streams: async (prefix) => answer(() => queries.streams(prefix)),
    async close() {
      if (db.isOpen) db.close();
    },
  };
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
