import { type Arrival, layDown, type MovedFrom } from '../moving.ts';
import type { Projection } from '../projections/projection.ts';
import { inPages } from '../reading.ts';
import { openDatabase, openDatabaseForReading } from './database.ts';
import { storedEntries } from './log.ts';
import { answer, headIn, prepareQueries } from './queries.ts';
import { prepareProject, refreshProjections } from './rows.ts';
import { prepareInsert, readTip } from './write.ts';

const PAGE = 1_000;

/** To move a home's store; call `close` afterwards. Rejects with `journal.none` if there is none. */
export async function movedFromSqlite(home: string): Promise<MovedFrom & { close(): Promise<void> }> {
  const db = openDatabaseForReading(home);
  const page = db.prepare(
    `SELECT size, note, installation, vouched FROM heads WHERE size > ? ORDER BY size LIMIT ${PAGE}`,
  );
  return {
    stored: (from) => storedEntries(db, from),
    heads: (above) =>
      inPages(
        above,
        PAGE,
        (next) => answer(() => page.all(next).flatMap((row) => headIn(row) ?? [])),
        ({ size }) => size,
      ),
    close: async () => db.close(),
  };
}

/** Writes a moved store into the home in one transaction. Rejects as `layDown` and `openSqliteStore` do. */
export async function landInSqlite(
  { home, projections }: { readonly home: string; readonly projections: readonly Projection[] },
  from: MovedFrom,
  arrival: Arrival,
): Promise<void> {
  const db = openDatabase(home);
  try {
    const queries = prepareQueries(db);
    refreshProjections(db, queries, projections);
    const insert = prepareInsert(db);
    const project = prepareProject(db, projections);
    db.exec('BEGIN IMMEDIATE');
    await layDown(
      from,
      {
        tip: readTip(queries),
        leaves: (leaves, entries) => {
          for (const leaf of leaves) insert.leaf(leaf);
          project(entries);
        },
        heads: (heads) => heads.forEach(insert.head),
      },
      arrival,
    );
    db.exec('COMMIT');
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK');
    db.close();
  }
}
