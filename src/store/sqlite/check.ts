import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { show } from '../../text.ts';

/** More would say the same. */
const MOST = 20;
/** Bytes. A smaller file is looked at before a thread has started. */
const LARGE = 16 * 1024 * 1024;

/**
 * SQLite's own look at the whole file, indexes included: a damaged one hides entries from whoever reads a
 * stream, and an audit, which reads by the number of the leaf, does not meet it. In a thread of its own,
 * since it takes as long as the audit; here where that cannot open the file.
 */
export async function checkDatabase(db: DatabaseSync): Promise<readonly string[]> {
  const file = db.location();
  const isLarge = file !== null && (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LARGE;
  const said =
    (isLarge ? await inThread(file).catch(() => undefined) : undefined) ?? wordsOf(db.prepare(CHECK).all());
  return said.filter((line) => line !== 'ok').map((line) => `the database is damaged: ${show(line, 200)}`);
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
