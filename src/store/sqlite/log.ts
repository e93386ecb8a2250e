import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { show } from '../../base/text.ts';
import { LOG_STREAM, type Log, type LoggedEntry, type LogHead } from '../journal.ts';
import { consistencyProof, inclusionProof, rootOf } from '../log/merkle.ts';
import { hearLog, NOTHING_SAID } from '../log/named-keys.ts';
import { EMPTY_LOG, rootSaid, type StoredHead } from '../log/next-leaves.ts';
import { SCHEMA } from './database.ts';
import { answer, prepareSnapshot, type Queries } from './queries.ts';

/** Only writers have `vouch`. `checkRows` reports problems of the projections. */
export function createLog(
  db: DatabaseSync,
  queries: Queries,
  checkRows: () => readonly string[],
): Omit<Log, 'vouch'> {
  const count = db.prepare('SELECT count(*) AS count FROM entries');
  const snapshot = prepareSnapshot(db);
  const see = <T>(look: () => T): T => answer(() => snapshot(look));
  const rootAt = (size: number) => rootOf(size, queries.node).toString('hex');
  return {
    origin: async () => see(() => hearLog(NOTHING_SAID, queries.read(LOG_STREAM)).origin),
    head: async () => see(() => headOf(queries.newestHead(), rootAt)),
    rootAt: async (size) => see(() => rootAt(size)),
    inclusion: async (index, size) => see(() => inclusionProof(index, size, queries.node).map(toHex)),
    consistency: async (from, size) => see(() => consistencyProof(from, size, queries.node).map(toHex)),
    stored: (from) => storedEntries(db, from),
    check: async () => [...see(checkRows), ...(await checkDatabase(db))],
    count: async () => see(() => (count.get() as { count: number }).count),
    vouched: async () => see(() => queries.newestHead()?.vouched ?? 0),
  };
}

function headOf(head: StoredHead | undefined, rootAt: (size: number) => string): LogHead {
  if (head === undefined) return EMPTY_LOG;
  const { size, note } = head;
  try {
    return { size, root: rootAt(size), note };
  } catch (error) {
    return { size, root: rootSaid(head, error), note };
  }
}

function toHex(hash: Buffer): string {
  return hash.toString('hex');
}

/** Some hundred kilobytes, between which a writer can checkpoint its WAL. */
const PAGE = 1_000;

/** Larger numbers are not exact in JavaScript, and SQLite's binding refuses to return them. */
const LARGEST = Number.MAX_SAFE_INTEGER;

/**
 * In whatever condition: a row that no append can have written (a wrong column type, a number out of range)
 * has an empty hash, which matches no content. Rows without a valid leaf come last, with index -1.
 */
export async function* storedEntries(db: DatabaseSync, from = 0): AsyncGenerator<LoggedEntry> {
  const fields = `stream, iif(seq BETWEEN 0 AND ${LARGEST}, seq, -1), at, by, type, body, lower(hex(hash)), typeof(hash), lower(hex(tree))`;
  const inside = db.prepare(
    `SELECT leaf, ${fields} FROM entries WHERE leaf BETWEEN ? AND ${LARGEST} ORDER BY leaf LIMIT ${PAGE}`,
  );
  inside.setReturnArrays(true);
  const outside = db.prepare(`SELECT -1, ${fields} FROM entries WHERE leaf < 0 OR leaf > ${LARGEST}`);
  outside.setReturnArrays(true);
  for (let next = from; ; ) {
    const rows = answer(() => inside.all(next) as unknown as unknown[][]);
    for (const row of rows) yield honest(row);
    const last = rows.at(-1)?.[0];
    if (rows.length < PAGE || typeof last !== 'number') break;
    next = last + 1;
  }
  if (from === 0) for (const row of answer(() => outside.all() as unknown as unknown[][])) yield honest(row);
}

function honest([leaf, stream, seq, at, by, type, body, hash, kind, tree]: readonly unknown[]): LoggedEntry {
  const isText = [stream, at, by, type, body].every((cell) => typeof cell === 'string');
  const isWhole = isText && typeof seq === 'number' && kind === 'blob';
  return {
    index: typeof leaf === 'number' ? leaf : -1,
    stream: textIn(stream),
    seq: typeof seq === 'number' ? seq : -1,
    at: textIn(at),
    by: textIn(by),
    type: textIn(type),
    body: textIn(body),
    hash: isWhole ? textIn(hash) : '',
    tree: isWhole ? textIn(tree) : '',
  };
}

function textIn(cell: unknown): string {
  return typeof cell === 'string' ? cell : '';
}

const MAX = 20;
/** Bytes. A smaller file is checked faster than a thread starts. */
const LARGE = 16 * 1024 * 1024;

/**
 * A schema other than the one created, and SQLite's own findings, including indexes: a damaged index hides
 * entries from readers of a stream, and an audit, which reads by leaf number, does not notice. Large files
 * are checked in a thread, which takes half as long as an audit, or here if it cannot open the file.
 */
async function checkDatabase(db: DatabaseSync): Promise<readonly string[]> {
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

const CHECK = `PRAGMA integrity_check(${MAX})`;

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
    // The connection is closed only after the thread's exit.
    worker.once('exit', () => (said === undefined ? reject(new Error('it said nothing')) : resolve(said)));
  });
}

function wordsOf(rows: readonly Readonly<Record<string, unknown>>[]): readonly string[] {
  return rows.map((row) => String(Object.values(row)[0]));
}
