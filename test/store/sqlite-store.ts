import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { promisify } from 'node:util';
import { hashOf } from '../../src/store/canonical.ts';
import type { StreamName } from '../../src/store/journal.ts';
import { SCHEMA } from '../../src/store/sqlite/database.ts';
import { openSqliteForReading, openSqliteStore } from '../../src/store/sqlite/open.ts';
import { NOTES } from './contract/projection.ts';
import type { StoreUnderTest } from './contract/store-under-test.ts';
import { freshSigner } from './fresh-signer.ts';
import { readIn } from './open-in.ts';
import { temporaryHome } from './temporary-home.ts';

/** The lock file of a stream. */
function lockOf(home: string, stream: StreamName): string {
  return join(home, 'locks', `${stream.replace('/', '-')}.lock.db`);
}

/** A fresh home as the contract wants a store. */
export function sqliteStore(home = temporaryHome(), signer = freshSigner()): StoreUnderTest {
  const one = (sql: string, ...values: SQLInputValue[]) =>
    tampered(home, (db) => void db.prepare(sql).run(...values));
  const newest = '(SELECT max(size) FROM heads)';
  return {
    signer,
    open: (options = {}) => openSqliteStore({ home, by: 'tester', signer, projections: NOTES, ...options }),
    openForReading: ({ projections = NOTES } = {}) => openSqliteForReading({ home, projections }),
    async appendElsewhere(stream, count) {
      const script = join(import.meta.dirname, 'append-elsewhere.ts');
      await promisify(execFile)(process.execPath, [script, home, stream, String(count)]);
    },
    loseHold: async (stream) => rmSync(lockOf(home, stream)),
    breakDisk: async () => rmSync(join(home, 'lifeboat.db')),
    tamper: {
      setBody: async (leaf, body) => one('UPDATE entries SET body = ? WHERE leaf = ?', body, leaf),
      removeEntry: async (leaf) => one('DELETE FROM entries WHERE leaf = ?', leaf),
      async addEntry() {
        const reader = await readIn(home);
        const [last] = (await Array.fromAsync(reader.log.stored())).slice(-1);
        await reader.close();
        if (last === undefined) throw new Error('there is no entry');
        const { index, stream, seq, at, by, type, body } = {
          ...last,
          index: last.index + 1,
          seq: last.seq + 1,
        };
        const hash = Buffer.from(hashOf({ stream, seq, at, by, type, body }), 'hex');
        one(
          'INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
          index,
          stream,
          seq,
          at,
          by,
          type,
          body,
          hash,
          hash,
        );
      },
      removeNewestHead: async () => one(`DELETE FROM heads WHERE size = ${newest}`),
      setNewestHead: async (note) => one(`UPDATE heads SET note = ? WHERE size = ${newest}`, note),
      setRow: async (projection, key, value) =>
        one(
          'UPDATE rows SET value = ? WHERE projection = ? AND key = ?',
          JSON.stringify(value),
          projection,
          key,
        ),
      rows: async (act, projection) =>
        one(
          `${act === 'delete' ? 'DELETE FROM rows' : "UPDATE rows SET grp = 'closed'"} WHERE projection = ?`,
          projection,
        ),
    },
  };
}

/**
 * Alters the database of a home as with a database tool, with its append-only triggers removed during the
 * act.
 */
export function tampered(home: string, act: (db: DatabaseSync) => void): void {
  const triggers = Object.keys(SCHEMA).filter((name) => SCHEMA[name]?.startsWith('CREATE TRIGGER'));
  const db = new DatabaseSync(join(home, 'lifeboat.db'));
  try {
    for (const name of triggers) db.exec(`DROP TRIGGER ${name}`);
    act(db);
    for (const name of triggers) db.exec(SCHEMA[name] ?? '');
  } finally {
    db.close();
  }
}
