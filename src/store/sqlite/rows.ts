import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { LifeboatError } from '../../base/errors.ts';
import { type Entry, LOG_STREAM, type ProjectedRow, type RowQuery } from '../journal.ts';
import { hearLog, type LogSays, NOTHING_SAID } from '../log/named-keys.ts';
import type { Signer } from '../log/signer.ts';
import { createFold, foldTouched, projectionOf, selectRows, touchedBy } from '../projected.ts';
import type { FoldedRow, Projection } from '../projections/projection.ts';
import {
  fitsClaim,
  isAbout,
  isVouched,
  KnownRows,
  NO_ROWS,
  type RowSum,
  type RowsClaim,
  rowsChanged,
  type StoredRow,
  sameSum,
  storedRow,
  summed,
  sumOf,
  VOUCHERS,
  vouchedIn,
  vouchFor,
} from '../vouched-rows.ts';
import { prepareSnapshot, type Queries } from './queries.ts';

/** While projections are rebuilt. */
const PAGE = 1_000;

/** Of an append in the log, for the notes about its rows. */
interface Step {
  readonly said: LogSays;
  /** The number of entries before and after. */
  readonly before: number;
  readonly after: number;
}

/** Keeps rows in an append's transaction. Without a signer they are unsigned until a writer opens. */
export function prepareProject(
  db: DatabaseSync,
  projections: readonly Projection[],
  signer?: Signer,
): (entries: readonly Entry[], step?: Step) => void {
  const find = db.prepare('SELECT grp AS "group", sort, value FROM rows WHERE projection = ? AND key = ?');
  const remove = db.prepare('DELETE FROM rows WHERE projection = ? AND key = ?');
  const put = db.prepare('INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?, ?)');
  // Most entries do not change what rows are found by: two indexes need no write.
  const update = db.prepare('UPDATE rows SET value = ? WHERE projection = ? AND key = ?');
  const vouchers = prepareVouchers(db, projections, signer);
  return (entries, step) => {
    const sums = step === undefined ? undefined : vouchers.sumsAt(step.said, step.before);
    for (const touched of touchedBy(projections, entries)) {
      const { projection, key } = touched;
      const found = find.get(projection.name, key) as (FoldedRow & { readonly value: string }) | undefined;
      const row = foldTouched(touched, found && { ...found, value: JSON.parse(found.value) });
      const sum = sums?.get(projection);
      const stored = row && storedRow(key, row);
      if (sum !== undefined)
        sums?.set(projection, summed(sum, projection, found && { key, ...found }, stored));
      if (stored === undefined) {
        if (found !== undefined) remove.run(projection.name, key);
        continue;
      }
      const { group, sort, value } = stored;
      if (group !== found?.group || sort !== found.sort) put.run(projection.name, key, group, sort, value);
      else if (value !== found.value) update.run(value, projection.name, key);
    }
    vouchers.keep(sums ?? new Map(), step);
  };
}

/** Against what this version keeps. */
interface Stale {
  readonly rebuilt: readonly Projection[];
  /** Not kept by this version: their rows would fall behind. */
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

export function keepsRowsOf(db: DatabaseSync, projections: readonly Projection[]): boolean {
  const { rebuilt, dropped } = staleRows(db.prepare(KEPT), projections);
  return rebuilt.length === 0 && dropped.length === 0;
}

/**
 * Rebuilds, in one transaction, projections of another version or without a valid note; `all`: every one.
 * Throws `journal.damaged` for an unreadable entry.
 */
export function refreshProjections(
  db: DatabaseSync,
  queries: Queries,
  projections: readonly Projection[],
  { all = false, step, signer }: Refresh = {},
): void {
  const vouchers = prepareVouchers(db, projections, signer);
  const isSigned = () => step === undefined || vouchers.areAt(step());
  if (!all && prepareSnapshot(db)(() => keepsRowsOf(db, projections) && isSigned())) return;
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
    const sums = new Map<Projection, RowSum>();
    const now = all || !isSigned() ? projections : rebuilt;
    const folded = foldAll(queries, now);
    for (const { projection, rows } of folded.projections) {
      clear.run(projection.name);
      let sum = NO_ROWS;
      for (const row of rows) {
        const { key, group, sort, value } = storedRow(row.key, row);
        put.run(projection.name, key, group, sort, value);
        sum = summed(sum, projection, undefined, { key, group, sort, value });
      }
      note.run(projection.name, projection.version);
      if (projection.vouched !== undefined) sums.set(projection, sum);
    }
    const reached = step?.();
    if (reached !== undefined && folded.count + reached.lost === reached.after) vouchers.keep(sums, reached);
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    // A damaged store still opens for reading, but without notes that vouch for its rows.
    const isDamaged = error instanceof LifeboatError && error.code === 'journal.damaged';
    if (all || !isDamaged || !keepsRowsOf(db, projections)) throw error;
  }
}

interface Refresh {
  readonly all?: boolean | undefined;
  readonly signer?: Signer | undefined;
  /**
   * The end of the log, if its head was verified, and how many of its entries a person accepted as lost;
   * undefined if the log is not what was signed.
   */
  readonly step?: () => (Step & { readonly lost: number }) | undefined;
}

/** A reader of another version than the store's folds the rows from all entries. */
export function askRows(
  db: DatabaseSync,
  queries: Queries,
  projections: readonly Projection[],
): (name: string, query?: RowQuery) => readonly ProjectedRow[] {
  const snapshot = prepareSnapshot(db);
  const statements = new Map<string, StatementSync>();
  // There are few forms of query, and preparing one takes longer than running it.
  const prepared = (sql: string): StatementSync => {
    const statement = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const vouchers = prepareVouchers(db, projections);
  // Rows are asked for in parts, and folding them reads every entry.
  const folds = new Map<Projection, { readonly size: number; readonly rows: readonly ProjectedRow[] }>();
  const foldedOf = (projection: Projection): readonly ProjectedRow[] => {
    const size = queries.size();
    const known = folds.get(projection);
    if (known?.size === size) return known.rows;
    const rows = foldAll(queries, [projection]).projections.flatMap((one) => one.rows);
    folds.set(projection, { size, rows });
    return rows;
  };
  const ask = (name: string, query: RowQuery = {}): readonly ProjectedRow[] => {
    const projection = projectionOf(projections, name);
    const folded = () => selectRows(foldedOf(projection), query);
    if (staleRows(prepared(KEPT), [projection]).rebuilt.length > 0) return folded();
    if (isVouched(projection, query.group)) {
      const rows = vouchers.rowsOf(projection, queries);
      return rows === undefined ? folded() : selectRows(rows.read(query.keys), query);
    }
    const { sql, values } = selection(name, query);
    return (prepared(sql).all(...values) as unknown as (ProjectedRow & { value: string })[]).map((row) => ({
      ...row,
      value: JSON.parse(row.value),
    }));
  };
  return (name, query) => snapshot(() => ask(name, query));
}

/** Lists whose signed rows changed, in words; those without a note for now are compared with the entries. */
export function changedRows(
  db: DatabaseSync,
  queries: Queries,
  projections: readonly Projection[],
): readonly string[] {
  const vouchers = prepareVouchers(db, projections);
  const stale = staleRows(db.prepare(KEPT), projections).rebuilt;
  const kept = db.prepare('SELECT key, grp AS "group", sort, value FROM rows WHERE projection = ?');
  return projections.flatMap((projection): readonly string[] => {
    if (projection.vouched === undefined || stale.includes(projection)) return [];
    const state = vouchers.stateOf(projection, queries);
    if (state === 'as signed' || state === 'of another moment') return [];
    const [folded] = state === 'unsigned' ? foldAll(queries, [projection]).projections : [];
    const rows = (kept.all(projection.name) as unknown as StoredRow[]) ?? [];
    const is = sumOf(projection, rows);
    const isSame =
      folded &&
      sameSum(
        is,
        sumOf(
          projection,
          folded.rows.map((row) => storedRow(row.key, row)),
        ),
      );
    return isSame === true ? [] : [rowsChanged(projection)];
  });
}

function selection(name: string, { group, keyPrefix, keys, limit, order, after }: RowQuery) {
  const direction = order === 'descending' ? 'DESC' : 'ASC';
  const where = [
    'projection = ?',
    ...(group === undefined ? [] : ['grp = ?']),
    // A range of the primary key: a look-up must not read every later key.
    ...(keyPrefix === undefined ? [] : ['key >= ? AND key < ? || char(0x10FFFF)']),
    ...(keys === undefined ? [] : ['key IN (SELECT value FROM json_each(?))']),
    ...(after === undefined ? [] : [`(sort, key) ${direction === 'ASC' ? '>' : '<'} (?, ?)`]),
  ];
  const values = [
    name,
    ...(group === undefined ? [] : [group]),
    ...(keyPrefix === undefined ? [] : [keyPrefix, keyPrefix]),
    ...(keys === undefined ? [] : [JSON.stringify(keys)]),
    ...(after === undefined ? [] : [after.sort, after.key]),
    limit ?? -1,
  ];
  const byKey = keyPrefix !== undefined || keys !== undefined;
  const sql =
    `SELECT key, grp AS "group", sort, value FROM rows WHERE ${where.join(' AND ')} ` +
    `ORDER BY ${byKey ? '+sort' : 'sort'} ${direction}, key ${direction} LIMIT ?`;
  return { sql, values };
}

function foldAll(queries: Queries, projections: readonly Projection[]) {
  const folds = projections.map((projection) => ({ projection, fold: createFold(projection) }));
  let count = 0;
  for (let next = 0; ; ) {
    const entries = queries.readLeaves(next, PAGE);
    for (const entry of entries) for (const { fold } of folds) fold.take(entry);
    const last = entries.at(-1);
    count += entries.length;
    if (last === undefined || entries.length < PAGE) break;
    next = last.index + 1;
  }
  return { count, projections: folds.map(({ projection, fold }) => ({ projection, rows: fold.rows() })) };
}

/** The notes that vouch for rows (vouched-rows.ts), stored among the rows. */
function prepareVouchers(db: DatabaseSync, projections: readonly Projection[], signer?: Signer) {
  const find = db.prepare('SELECT value FROM rows WHERE projection = ? AND key = ?');
  const put = db.prepare('INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?, ?)');
  const remove = db.prepare('DELETE FROM rows WHERE projection = ? AND key = ?');
  const kept = db.prepare(
    'SELECT key, grp AS "group", sort, value FROM rows WHERE projection = ? AND grp = ? AND sort >= ?',
  );
  const known = new Map<Projection, KnownRows>();
  const signed = projections.filter(({ vouched }) => vouched !== undefined);

  const anyClaim = ({ name }: Projection, { keys }: LogSays): RowsClaim | undefined => {
    const note = find.get(VOUCHERS, name)?.['value'];
    return typeof note === 'string' ? vouchedIn(note, [...keys.values()], signer) : undefined;
  };
  const claimOf = (projection: Projection, said: LogSays, size: number): RowsClaim | undefined => {
    const claim = anyClaim(projection, said);
    return isAbout(claim, { origin: said.origin, size, projection }) ? claim : undefined;
  };
  const keptRows = ({ name, vouched = [] }: Projection, since = ''): readonly StoredRow[] =>
    vouched.flatMap((group) => kept.all(name, group, since) as unknown as StoredRow[]);

  return {
    /** At a size of the log; omits projections without a valid note. */
    sumsAt(said: LogSays, size: number): Map<Projection, RowSum> {
      const sums = signed.map((projection) => {
        return [projection, size === 0 ? NO_ROWS : claimOf(projection, said, size)] as const;
      });
      return new Map(sums.flatMap(([projection, sum]) => (sum === undefined ? [] : [[projection, sum]])));
    },

    /** At this point of the log. */
    areAt: (step: Step | undefined): boolean =>
      step === undefined ||
      step.after === 0 ||
      signed.every((projection) => {
        const claim = claimOf(projection, step.said, step.after);
        return claim !== undefined && fitsClaim(claim, projection, keptRows(projection));
      }),

    /** A projection without a sum is no longer vouched for. */
    keep(sums: ReadonlyMap<Projection, RowSum>, step: Pick<Step, 'said' | 'after'> | undefined): void {
      for (const projection of signed) {
        const { name } = projection;
        const sum = sums.get(projection);
        const origin = step?.said.origin;
        if (sum === undefined || step === undefined || signer === undefined || origin === undefined)
          remove.run(VOUCHERS, name);
        else
          put.run(VOUCHERS, name, '', '', vouchFor({ ...sum, origin, projection, size: step.after }, signer));
      }
    },

    /** Undefined if the rows are not what was signed. */
    rowsOf(projection: Projection, queries: Queries): KnownRows | undefined {
      const claim = claimOf(projection, saidIn(queries), queries.newestHead()?.size ?? 0);
      if (claim === undefined) return undefined;
      const before = known.get(projection);
      if (before?.add(projection, keptRows(projection, before.since), claim) === true) return before;
      const rows = new KnownRows();
      if (!rows.add(projection, keptRows(projection), claim)) return undefined;
      if (projection.grows === true) known.set(projection, rows);
      return rows;
    },

    stateOf(
      projection: Projection,
      queries: Queries,
    ): 'as signed' | 'changed' | 'of another moment' | 'unsigned' {
      const said = saidIn(queries);
      const claim = anyClaim(projection, said);
      if (claim?.origin !== said.origin) return 'unsigned';
      if (!isAbout(claim, { origin: said.origin, size: queries.newestHead()?.size ?? 0, projection }))
        return 'of another moment';
      return fitsClaim(claim, projection, keptRows(projection)) ? 'as signed' : 'changed';
    },
  };
}

function saidIn(queries: Queries): LogSays {
  return hearLog(NOTHING_SAID, queries.read(LOG_STREAM));
}
