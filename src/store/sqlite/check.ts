import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { show } from '../../base/text.ts';
import { SCHEMA } from './schema.ts';

/** More would say the same. */
const MOST = 20;
/** Bytes. A smaller file is looked at before a thread has started. */
const LARGE = 16 * 1024 * 1024;

/**
 * What is wrong with the file: a structure that is not the one that was made, and what SQLite itself finds,
 * indexes included. A damaged index hides entries from whoever reads a stream, and an audit, which reads by
 * the number of the leaf, does not meet it. Large files are looked at in a thread of their own, since that
 * takes half as long as an audit; here where that cannot open the file.
 */
export async function checkDatabase(db: DatabaseSync): Promise<readonly string[]> {
  const file = db.location();
  const isLarge = file !== null && (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LARGE;
  const said =
    (isLarge ? await inThread(file).catch(() => undefined) : undefined) ?? wordsOf(db.prepare(CHECK).all());
  const damaged = said
    .filter((line) => line !== 'ok')
    .map((line) => `the database is damaged: ${show(line, 200)}`);
  return [...changedIn(db), ...damaged];
}

function changedIn(db: DatabaseSync): readonly string[] {
  const found = db.prepare('SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL').all();
  const made = new Map(found.map(({ name, sql }) => [String(name), sql]));
  const names = new Set([...Object.keys(SCHEMA), ...made.keys()]);
  return [...names]
    .filter((name) => made.get(name) !== SCHEMA[name])
    .map((name) => `the structure of the database was changed: ${show(name, 80)}`);
}

const CHECK = `PRAGMA integrity_check(${MOST})`;

function inThread(file: string): Promise<readonly string[]> {
  const code = `const { DatabaseSync } = require('node:sqlite');
    const { parentPort, workerData } = require('node:worker_threads');
    const db = new DatabaseSync(workerData, { readOnly: true });
    parentPort.postMessage(db.prepare('${CHECK}').all());
    db.close();`;
  return new Promise((resolve, reject) => {
    const worker = new Worker(code, { eval: true, workerData: file });
    let said: readonly string[] | undefined;
    worker.once('message', (rows) => {
      said = wordsOf(rows);
    });
    worker.once('error', reject);
    // Only then is its connection closed.
    worker.once('exit', () => (said === undefined ? reject(new Error('it said nothing')) : resolve(said)));
  });
}

function wordsOf(rows: readonly Readonly<Record<string, unknown>>[]): readonly string[] {
  return rows.map((row) => String(Object.values(row)[0]));
}
