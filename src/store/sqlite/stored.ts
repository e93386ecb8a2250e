import type { DatabaseSync } from 'node:sqlite';
import type { LoggedEntry } from '../journal.ts';
import { answer } from './queries.ts';

/**
 * Rows that are read at once: a page of a few hundred kilobytes, between which a writer may tidy its log up.
 */
const PAGE = 1_000;

/** Numbers beyond it are not exact in JavaScript, and SQLite's binding refuses to give them. */
const LARGEST = Number.MAX_SAFE_INTEGER;

/**
 * The entries as they are stored, whatever they are: a row that no append can have written (another type in a
 * column, a number out of range) comes with an empty hash, which no content gives. Rows whose leaf has no
 * place in the log come last, with index -1.
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
  const isWhole =
    typeof stream === 'string' &&
    typeof seq === 'number' &&
    typeof at === 'string' &&
    typeof by === 'string' &&
    typeof type === 'string' &&
    typeof body === 'string' &&
    kind === 'blob';
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
