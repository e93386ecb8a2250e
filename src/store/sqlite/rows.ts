import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Entry, ProjectedRow, RowQuery } from '../journal.ts';
import { createFold, foldTouched, projectionOf, selectRows, touchedBy } from '../projected.ts';
import type { FoldedRow, Projection } from '../projections/projection.ts';
import { prepareSnapshot, type Queries } from './queries.ts';

/** Entries that are folded at once while projections are rebuilt. */
const PAGE = 1_000;

/** Keeps the rows of the projections in the transaction of an append. */
export function prepareProject(
  db: DatabaseSync,
  projections: readonly Projection[],
): (entries: readonly Entry[]) => void {
  const find = db.prepare('SELECT grp AS "group", sort, value FROM rows WHERE projection = ? AND key = ?');
  const remove = db.prepare('DELETE FROM rows WHERE projection = ? AND key = ?');
  const put = db.prepare('INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?, ?)');
  // Most entries change nothing that rows are found by: two indexes less to write.
  const update = db.prepare('UPDATE rows SET value = ? WHERE projection = ? AND key = ?');
  return (entries) => {
    for (const touched of touchedBy(projections, entries)) {
      const { projection, key } = touched;
      const found = find.get(projection.name, key) as (FoldedRow & { readonly value: string }) | undefined;
      const row = foldTouched(touched, found && { ...found, value: JSON.parse(found.value) });
      if (row === undefined) {
        if (found !== undefined) remove.run(projection.name, key);
        continue;
      }
      const value = JSON.stringify(row.value);
      if (row.group !== found?.group || row.sort !== found.sort)
        put.run(projection.name, key, row.group, row.sort, value);
      else if (value !== found.value) update.run(value, projection.name, key);
    }
  };
}

/** In what the rows that are kept differ from those that this version of Lifeboat keeps. */
interface Stale {
  readonly rebuilt: readonly Projection[];
  /** Projections that this version does not keep: their rows would stay behind from now on. */
  readonly dropped: readonly string[];
}

const KEPT = 'SELECT name, version FROM projections';

/** `statement` is the prepared `KEPT`. */
function staleRows(statement: StatementSync, projections: readonly Projection[]): Stale {
  const kept = statement.all() as unknown as Projection[];
  const versions = new Map(kept.map(({ name, version }) => [name, version]));
  return {
    rebuilt: projections.filter(({ name, version }) => versions.get(name) !== version),
    dropped: [...versions.keys()].filter((name) => !projections.some((one) => one.name === name)),
  };
}

/** Whether the rows are those that this version of Lifeboat keeps, all of them and no others. */
export function keepsRowsOf(db: DatabaseSync, projections: readonly Projection[]): boolean {
  const { rebuilt, dropped } = staleRows(db.prepare(KEPT), projections);
  return rebuilt.length === 0 && dropped.length === 0;
}

/**
 * Rebuilds what another version of Lifeboat kept, or everything where `all` is asked for, in one transaction.
 * Throws `journal.damaged` where an entry cannot be read.
 */
export function refreshProjections(
  db: DatabaseSync,
  queries: Queries,
  projections: readonly Projection[],
  all = false,
): void {
  if (!all && keepsRowsOf(db, projections)) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    const clear = db.prepare('DELETE FROM rows WHERE projection = ?');
    const put = db.prepare('INSERT INTO rows VALUES (?, ?, ?, ?, ?)');
    const note = db.prepare('INSERT OR REPLACE INTO projections VALUES (?, ?)');
    const forget = db.prepare('DELETE FROM projections WHERE name = ?');
    const { rebuilt, dropped } = staleRows(db.prepare(KEPT), projections);
    for (const name of dropped) {
      clear.run(name);
      forget.run(name);
    }
    for (const { projection, rows } of foldAll(queries, all ? projections : rebuilt)) {
      clear.run(projection.name);
      for (const { key, group, sort, value } of rows)
        put.run(projection.name, key, group, sort, JSON.stringify(value));
      note.run(projection.name, projection.version);
    }
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** The rows that are kept; folded from all entries for a reader of another version than the store's. */
export function askRows(
  db: DatabaseSync,
  queries: Queries,
  projections: readonly Projection[],
): (name: string, query?: RowQuery) => readonly ProjectedRow[] {
  const snapshot = prepareSnapshot(db);
  const statements = new Map<string, StatementSync>();
  // A query has a few forms, and to prepare one takes longer than to ask it.
  const prepared = (sql: string): StatementSync => {
    const statement = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const ask = (name: string, query: RowQuery = {}): readonly ProjectedRow[] => {
    const projection = projectionOf(projections, name);
    if (staleRows(prepared(KEPT), [projection]).rebuilt.length > 0)
      return foldAll(queries, [projection]).flatMap(({ rows }) => selectRows(rows, query));
    const { sql, values } = selection(name, query);
    return (prepared(sql).all(...values) as unknown as (ProjectedRow & { value: string })[]).map((row) => ({
      ...row,
      value: JSON.parse(row.value),
    }));
  };
  return (name, query) => snapshot(() => ask(name, query));
}

function selection(name: string, { group, keyPrefix, limit, order }: RowQuery) {
  const direction = order === 'descending' ? 'DESC' : 'ASC';
  const where = [
    'projection = ?',
    ...(group === undefined ? [] : ['grp = ?']),
    // A range of the primary key: a look-up must not read every key behind it.
    ...(keyPrefix === undefined ? [] : ['key >= ? AND key < ? || char(0x10FFFF)']),
  ];
  const values = [
    name,
    ...(group === undefined ? [] : [group]),
    ...(keyPrefix === undefined ? [] : [keyPrefix, keyPrefix]),
    limit ?? -1,
  ];
  const sql =
    `SELECT key, grp AS "group", sort, value FROM rows WHERE ${where.join(' AND ')} ` +
    `ORDER BY ${keyPrefix === undefined ? 'sort' : '+sort'} ${direction}, key ${direction} LIMIT ?`;
  return { sql, values };
}

function foldAll(queries: Queries, projections: readonly Projection[]) {
  const folds = projections.map((projection) => ({ projection, fold: createFold(projection) }));
  for (let next = 0; ; ) {
    const entries = queries.readLeaves(next, PAGE);
    for (const entry of entries) for (const { fold } of folds) fold.take(entry);
    const last = entries.at(-1);
    if (last === undefined || entries.length < PAGE) break;
    next = last.index + 1;
  }
  return folds.map(({ projection, fold }) => ({ projection, rows: fold.rows() }));
}
