import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { hashOf } from '../../src/store/canonical.ts';
import type { LeafFields } from '../../src/store/journal.ts';
import type { ArmedCall } from '../../src/store/log/checkpoint.ts';
import { EMPTY_FRONTIER, grow, rootOfFrontier } from '../../src/store/log/merkle.ts';
import type { Signer } from '../../src/store/log/signer.ts';

/** An entry as seen with a database tool. */
export interface Row extends LeafFields {
  readonly leaf: number;
}

/**
 * Changes the database as with such a tool: removes the triggers and restores them. A change that SQLite
 * refuses has no effect.
 */
export function forge(home: string, change: (db: DatabaseSync) => void): void {
  const db = new DatabaseSync(join(home, 'lifeboat.db'));
  try {
    const triggers = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all();
    for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`);
    db.exec('BEGIN');
    try {
      change(db);
      db.exec('COMMIT');
    } catch {
      db.exec('ROLLBACK');
    }
    for (const { sql } of triggers) db.exec(String(sql));
  } finally {
    db.close();
  }
}

export function rowsOf(db: DatabaseSync): readonly Row[] {
  return db
    .prepare('SELECT leaf, stream, seq, at, by, type, body FROM entries ORDER BY leaf')
    .all() as unknown as Row[];
}

export interface Rewriting {
  /** Signs the new head, under this name of the log; without it the heads stay unchanged. */
  readonly signer?: Signer | undefined;
  readonly origin?: string;
  /** What the store then claims to remember of its home. */
  readonly vouched?: number;
  readonly armed?: readonly ArmedCall[];
}

/**
 * Replaces all entries by these, with correct numbers, hashes and tree. Returns the signed head, if one was
 * made.
 */
export function rewrite(
  db: DatabaseSync,
  rows: readonly Omit<LeafFields, 'seq'>[],
  how: Rewriting = {},
): string | undefined {
  const { signer, vouched = 0, armed = [], origin = originIn(db) } = how;
  db.exec('DELETE FROM entries');
  const insert = db.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const seqs = new Map<string, number>();
  let frontier = EMPTY_FRONTIER;
  for (const { stream, at, by, type, body } of rows) {
    const seq = (seqs.get(stream) ?? 0) + 1;
    seqs.set(stream, seq);
    const hash = Buffer.from(hashOf({ stream, seq, at, by, type, body }), 'hex');
    const grown = grow(frontier, hash);
    insert.run(frontier.size, stream, seq, at, by, type, body, hash, grown.tree);
    frontier = grown.frontier;
  }
  if (signer === undefined) return undefined;
  const root = rootOfFrontier(frontier).toString('hex');
  const note = signer.sign({ origin, size: frontier.size, root, armed });
  db.exec('DELETE FROM heads');
  db.prepare('INSERT INTO heads VALUES (?, ?, ?, ?)').run(frontier.size, note, signer.installation, vouched);
  return note;
}

export function originIn(db: DatabaseSync): string {
  const begun = db.prepare("SELECT body FROM entries WHERE type = 'log.begun'").get();
  return JSON.parse(String(begun?.['body'] ?? '{}')).origin ?? '';
}
