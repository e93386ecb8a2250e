import { statSync } from 'node:fs';
import { join } from 'node:path';
import { firstLeafSince, type GrownDay, grownSince, type Volume } from '../volume.ts';
import { DATABASE_FILE, openDatabaseForReading } from './database.ts';
import { answer, prepareQueries } from './queries.ts';

/** Rejects with `journal.none` if the home has no store. */
export async function volumeOfSqlite(home: string): Promise<Volume> {
  const db = openDatabaseForReading(home);
  try {
    const queries = prepareQueries(db);
    const timeAt = db.prepare('SELECT at FROM entries WHERE leaf >= ? ORDER BY leaf LIMIT 1');
    const grown = db.prepare(
      `SELECT substr(at, 1, 10) AS day, count(*) AS entries,
         sum(octet_length(stream) + octet_length(by) + octet_length(type) + octet_length(body)) AS bytes
       FROM entries WHERE leaf >= ? AND at >= ? GROUP BY day ORDER BY day`,
    );
    const since = grownSince(Date.now());
    const from = await firstLeafSince(since, answer(queries.size), (leaf) =>
      answer(() => (timeAt.get(leaf) as { at: string } | undefined)?.at),
    );
    return {
      bytes: [DATABASE_FILE, `${DATABASE_FILE}-wal`].reduce((sum, name) => sum + sizeOf(join(home, name)), 0),
      streams: answer(() => queries.streams().length),
      days: answer(() => grown.all(from, since) as unknown as GrownDay[]),
    };
  } finally {
    db.close();
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
