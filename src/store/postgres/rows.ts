import type { KeyObject } from 'node:crypto';
import { type Entry, LOG_STREAM, type ProjectedRow, type RowQuery } from '../journal.ts';
import { readCheckpoint } from '../log/checkpoint.ts';
import { lossesIn } from '../log/log-entries.ts';
import type { LogSays } from '../log/named-keys.ts';
import type { Signer } from '../log/signer.ts';
import { foldTouched, selectRows, touchedBy } from '../projected.ts';
import type { Projection } from '../projections/projection.ts';
import {
  isAbout,
  isVouched,
  KnownRows,
  NO_ROWS,
  type RowSum,
  rowsChanged,
  type StoredRow,
  sameSum,
  summed,
  sumOf,
  VOUCHERS,
  vouchedIn,
  vouchFor,
} from '../vouched-rows.ts';
import type { Link, Session } from './link.ts';
import { type Ask, rootAt } from './log.ts';
import { columnsOf, hearStore, readLeaves, readStream } from './queries.ts';
import { TAKE_LEAD } from './schema.ts';

/** How far a projection's version keeps its rows. Lifeboats of two versions may share a store. */
export interface Version {
  readonly name: string;
  readonly version: number;
  /** How many leaves the rows reflect. */
  readonly upto: number;
}

/** Without a value: to be removed. */
export interface KeptRow {
  readonly projection: string;
  readonly version: number;
  readonly key: string;
  readonly grp: string;
  readonly sort: string;
  readonly value: string | null;
}

/** The step of the log that entries make, for the notes about rows. */
export interface Step {
  readonly said: LogSays;
  readonly before: number;
  readonly after: number;
  /** Undefined if the log is not what was signed: the rows are then not vouched for. */
  readonly signer: Signer | undefined;
}

/** Folds entries into the rows that they change, in the sequencing transaction, and adds the signed notes. */
export async function foldRows(
  session: Session,
  projections: readonly Projection[],
  entries: readonly Entry[],
  step: Step,
): Promise<readonly KeptRow[]> {
  const touched = touchedBy(projections, entries);
  const signed = projections.filter(({ vouched }) => vouched !== undefined);
  const wanted = [
    ...touched.map(({ projection: { name, version }, key }) => ({ name, version, key: storable(key) })),
    ...signed.map(({ name, version }) => ({ name: VOUCHERS, version, key: name })),
  ];
  if (wanted.length === 0) return [];
  const found = await session.query<KeptRow>(
    `select projection, version, key, grp, sort, value from lifeboat.rows
     join unnest($1::text[], $2::int[], $3::text[]) t(projection, version, key) using (projection, version, key)`,
    columnsOf(wanted, 'name', 'version', 'key'),
  );
  const before = new Map(found.map((row) => [`${row.projection}/${row.key}`, row]));
  const sums = new Map<string, RowSum>();
  for (const projection of signed) {
    const note = before.get(`${VOUCHERS}/${projection.name}`)?.value ?? undefined;
    const claim = vouchedIn(note, [...step.said.keys.values()], step.signer);
    const is = { origin: step.said.origin, size: step.before, projection };
    if (step.before === 0) sums.set(projection.name, NO_ROWS);
    else if (isAbout(claim, is)) sums.set(projection.name, claim);
  }
  const folded = touched.flatMap((one): readonly KeptRow[] => {
    const { name, version } = one.projection;
    const key = storable(one.key);
    const kept = before.get(`${name}/${key}`);
    const row = foldTouched(
      one,
      kept && { group: kept.grp, sort: kept.sort, value: JSON.parse(kept.value ?? 'null') },
    );
    const is = row && rowStored(key, row);
    const sum = sums.get(name);
    if (sum !== undefined) sums.set(name, summed(sum, one.projection, kept && storedAs(kept), is));
    if (is === undefined && kept === undefined) return [];
    const { group = '', sort = '', value = null } = is ?? {};
    return [{ projection: name, version, key, grp: group, sort, value }];
  });
  return [...folded, ...notesOf(signed, sums, step)];
}

function notesOf(
  signed: readonly Projection[],
  sums: ReadonlyMap<string, RowSum>,
  { said: { origin }, after, signer }: Step,
): readonly KeptRow[] {
  return signed.map((projection) => {
    const { name, version } = projection;
    const sum = sums.get(name);
    const isKnown = sum !== undefined && origin !== undefined && signer !== undefined;
    const value = isKnown ? vouchFor({ ...sum, origin, projection, size: after }, signer) : null;
    return { projection: VOUCHERS, version, key: name, grp: '', sort: '', value };
  });
}

function storedAs({ key, grp, sort, value }: Omit<KeptRow, 'projection' | 'version'>): StoredRow {
  return { key, group: grp, sort, value: value ?? 'null' };
}

/** In one transaction while rows catch up; appends go on in between. */
const PAGE = 2_000;

/**
 * Brings a projection's rows up to date: builds those of a new version from the first entry, and removes
 * those of an older one. Rejects with `journal.damaged` for an unreadable entry.
 */
export async function catchUp(link: Link, projection: Projection, signer: Signer): Promise<void> {
  for (let isBehind = true; isBehind; )
    isBehind = await link.use((session) => foldPage(session, projection, signer));
}

/** Also rebuilds rows that are not what was signed. */
export async function keepUp(link: Link, projection: Projection, signer: Signer): Promise<void> {
  await catchUp(link, projection, signer);
  const isSound = async (session: Session) =>
    projection.vouched === undefined || (await signedRows(session, projection)).state === 'as signed';
  if (await link.use(isSound)) return;
  await link.use((session) => forgetRows(session, [projection]));
  await catchUp(link, projection, signer);
}

/** In one transaction; the next opener rebuilds the rows. */
export async function forgetRows(session: Session, projections: readonly Projection[]): Promise<void> {
  const named = columnsOf(projections, 'name', 'version');
  await Promise.all([session.query('begin'), session.query(TAKE_LEAD)]);
  await Promise.all([session.query(FORGET, named), session.query('commit')]);
}

async function foldPage(session: Session, projection: Projection, signer: Signer): Promise<boolean> {
  const { name, version } = projection;
  await Promise.all([session.query('begin'), session.query(TAKE_LEAD)]);
  const [state] = await session.query<{ upto: number; size: number }>(
    `select coalesce((select upto from lifeboat.projections where name = $1 and version = $2), 0) as upto,
       coalesce((select max(size) from lifeboat.heads), 0) as size`,
    [name, version],
  );
  const { upto, size } = state ?? { upto: 0, size: 0 };
  const entries = upto < size ? await readLeaves(session, upto, PAGE) : [];
  const reached = entries.length === 0 ? size : (entries.at(-1)?.index ?? 0) + 1;
  const said = await hearStore(session);
  const isWhole = await isAsSigned(session, said, { size, missing: reached - upto - entries.length });
  const step = { said, before: upto, after: reached, signer: isWhole ? signer : undefined };
  const folded = await foldRows(session, [projection], entries, step);
  const kept = session.query(KEEP, [[name], [version], reached, JSON.stringify(folded)]);
  // Once, when this version first appears here: an older version still in use rebuilds its rows.
  const tidied = upto > 0 ? [] : [session.query(FORGET_OLDER, [name, version])];
  await Promise.all([kept, ...tidied, session.query('commit')]);
  return reached < size;
}

/** By its newest head, allowing for entries that a person accepted as lost. */
async function isAsSigned(
  session: Session,
  { origin, keys }: LogSays,
  { size, missing }: { readonly size: number; readonly missing: number },
): Promise<boolean> {
  if (size === 0) return true;
  const [head] = await session.query<{ note: string }>('select note from lifeboat.heads where size = $1', [
    size,
  ]);
  const known: readonly KeyObject[] = [...keys.values()];
  const read = readCheckpoint(head?.note ?? '', known);
  if (read.result !== 'signed' || read.checkpoint.size !== size || read.checkpoint.origin !== origin)
    return false;
  if (missing > 0) {
    const losses = lossesIn(await readStream(session, LOG_STREAM, 1));
    if (missing > losses.reduce((sum, { rowsMissing }) => sum + rowsMissing, 0)) return false;
  }
  return read.checkpoint.root === (await rootAt(session, size).catch(() => undefined));
}

const KEEP = 'select lifeboat.keep($1::text[], $2::int[], $3::bigint, $4::json)';
const FORGET = 'select lifeboat.forget($1::text[], $2::int[])';
const FORGET_OLDER = 'select lifeboat.forget_older($1, $2::int)';

/** The signed rows of projections that only grow. */
export type Known = Map<Projection, KnownRows>;

/** The rows, or why they cannot be used and must be folded from the entries. */
export async function selectKept(
  session: Session,
  projection: Projection,
  known: Known,
  query: RowQuery = {},
): Promise<readonly ProjectedRow[] | 'behind' | 'unsigned' | 'changed'> {
  if (isVouched(projection, query.group)) {
    const signed = await signedRows(session, projection, known);
    return signed.state === 'as signed' ? selectRows(signed.rows.read(query.keys), query) : signed.state;
  }
  const { name, version } = projection;
  const { group, keyPrefix, keys, limit, order, after } = query;
  const direction = order === 'descending' ? 'desc' : 'asc';
  const values: unknown[] = [name, version];
  const put = (value: unknown) => `$${values.push(value)}`;
  const where = ['projection = $1', 'version = $2'];
  if (group !== undefined) where.push(`grp = ${put(group)}`);
  // A range of the primary key: the planner must not walk an index by `sort` and read every row.
  if (keyPrefix !== undefined)
    where.push(`key >= ${put(keyPrefix)}`, `key < ${put(`${keyPrefix}\u{10ffff}`)}`);
  if (keys !== undefined) where.push(`key = any (${put(keys.map(storable))}::text[])`);
  if (after !== undefined)
    where.push(
      `(sort, key) ${direction === 'asc' ? '>' : '<'} (${put(storable(after.sort))}, ${put(storable(after.key))})`,
    );
  const byKey = keyPrefix !== undefined || keys !== undefined;
  const sort = byKey ? "(sort || '')" : 'sort';
  const sql = `select key, grp as "group", sort, value from lifeboat.rows where ${where.join(' and ')}
    order by ${sort} ${direction}, key ${direction} limit ${put(limit ?? null)}`;
  const [state, rows] = await Promise.all([
    session.query<{ current: boolean }>(
      `select coalesce((select max(size) from lifeboat.heads), 0) =
        coalesce((select upto from lifeboat.projections where name = $1 and version = $2), 0) as current`,
      [name, version],
    ),
    session.query<{ key: string; group: string; sort: string; value: string }>(sql, values),
  ]);
  if (state[0]?.current !== true) return 'behind';
  return rows.map((row) => ({ ...row, value: JSON.parse(row.value) }));
}

type Signed =
  | { readonly state: 'as signed'; readonly rows: KnownRows }
  /** Behind the log, without a signed note, or different from it. */
  | { readonly state: 'behind' | 'unsigned' | 'changed' };

/** Compares the signed groups with what was signed; reads only those rows that came since. */
async function signedRows(session: Session, projection: Projection, known?: Known): Promise<Signed> {
  const before = known?.get(projection);
  // Another call may have added rows newer than this one's moment: then look again.
  for (const rows of before === undefined ? [] : [before, before]) {
    const signed = await signedSince(session, projection, rows);
    if (signed.state !== 'changed') return signed;
  }
  const signed = await signedSince(session, projection, new KnownRows());
  if (projection.grows === true && signed.state === 'as signed' && signed.rows.count >= (before?.count ?? 0))
    known?.set(projection, signed.rows);
  return signed;
}

/** All at one moment; adds new rows to those read before. */
async function signedSince(session: Session, projection: Projection, before: KnownRows): Promise<Signed> {
  const { name, version, vouched = [] } = projection;
  const values = [name, version, vouched, VOUCHERS, before.since];
  const found = await session.query<SignedAs | SignedRow>(SIGNED, values);
  const { size = 0, upto = 0, note } = found.find((row) => row.size !== null) ?? {};
  if (size !== upto) return { state: 'behind' };
  if (size === 0) return { state: 'as signed', rows: new KnownRows() };
  const { origin, keys } = await hearStore(session);
  const claim = vouchedIn(note ?? undefined, [...keys.values()]);
  if (!isAbout(claim, { origin, size, projection })) return { state: 'unsigned' };
  const rows = found.flatMap((row) => (row.size === null ? [storedAs(row)] : []));
  return before.add(projection, rows, claim) ? { state: 'as signed', rows: before } : { state: 'changed' };
}

/** Lists whose signed rows changed, in words; those without a signed note are compared with the entries. */
export async function changedRows(
  projections: readonly Projection[],
  ask: Ask,
  fold: (projection: Projection) => Promise<readonly ProjectedRow[]>,
): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const projection of projections) {
    const { name, version, vouched } = projection;
    const signed = vouched && (await ask((session) => signedRows(session, projection)));
    if (signed?.state === 'changed') changed.push(rowsChanged(projection));
    if (signed?.state !== 'unsigned') continue;
    const before = await ask(sizeOf);
    const rows = (await fold(projection)).map(({ key, ...row }) => rowStored(storable(key), row));
    const kept = await ask((session) => session.query<StoredRow>(KEPT, [name, version]));
    if ((await ask(sizeOf)) !== before) continue;
    if (!sameSum(sumOf(projection, rows), sumOf(projection, kept))) changed.push(rowsChanged(projection));
  }
  return changed;
}

export async function sizeOf(session: Session): Promise<number> {
  const [head] = await session.query<{ size: number }>('select max(size) as size from lifeboat.heads');
  return head?.size ?? 0;
}

const KEPT =
  'select key, grp as "group", sort, value from lifeboat.rows where projection = $1 and version = $2';

interface SignedAs {
  readonly size: number;
  readonly upto: number;
  readonly note: string | null;
}

interface SignedRow extends Omit<KeptRow, 'projection' | 'version'> {
  readonly size: null;
}

/** What was signed, and each row by itself: one answer with all of them would be buffered whole. */
const SIGNED = `select coalesce((select max(size) from lifeboat.heads), 0) as size,
  coalesce((select upto from lifeboat.projections where name = $1 and version = $2), 0) as upto,
  (select value from lifeboat.rows where projection = $4 and version = $2 and key = $1) as note,
  '' as key, '' as grp, '' as sort, '' as value
union all select null, null, null, key, grp, sort, value from lifeboat.rows
where projection = $1 and version = $2 and grp = any ($3::text[]) and sort >= $5`;

/** PostgreSQL text cannot hold NUL or a lone surrogate. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

function rowStored(
  key: string,
  row: { readonly group: string; readonly sort: string; readonly value: unknown },
) {
  return { key, group: storable(row.group), sort: storable(row.sort), value: JSON.stringify(row.value) };
}
