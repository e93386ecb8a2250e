import type { JournalReader } from './journal.ts';
import { openDatabaseForReading, refuseOtherVersion } from './sqlite-database.ts';
import { answer, prepareQueries } from './sqlite-queries.ts';

/**
 * Opens the journal of `home` for looking only: works while a run is live, sees at each call what is durable then, never
 * creates a database. Rejects with `journal.none`, `journal.version` or `journal.damaged`.
 */
export async function openForReading(options: { readonly home: string }): Promise<JournalReader> {
  const db = openDatabaseForReading(options.home);
  const queries = answer(() => {
    refuseOtherVersion(db, options.home);
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
