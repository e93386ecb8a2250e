import type { ProjectedRow, RowQuery } from '../journal.ts';
import { selectRows } from '../projected.ts';
import type { Projection } from '../projections/projection.ts';
import {
  fitsClaim,
  isAbout,
  isVouched,
  rowsChanged,
  type StoredRow,
  sameSum,
  sumOf,
  VOUCHERS,
  vouchedIn,
} from '../vouched-rows.ts';
import type { Session } from './link.ts';
import type { Ask } from './log.ts';
import { hearStore } from './queries.ts';

/** The rows of a projection; otherwise why they cannot be used and must be folded from the entries. */
export async function selectKept(
  session: Session,
  projection: Projection,
  query: RowQuery = {},
): Promise<readonly ProjectedRow[] | 'behind' | 'unsigned' | 'changed'> {
  if (isVouched(projection, query.group)) {
    const signed = await signedRows(session, projection);
    return signed.state === 'as signed' ? selectRows(signed.rows, query) : signed.state;
  }
  const { name, version } = projection;
  const { group, keyPrefix, limit, order } = query;
  const direction = order === 'descending' ? 'desc' : 'asc';
  const values: unknown[] = [name, version];
  const put = (value: unknown) => `$${values.push(value)}`;
  const where = ['projection = $1', 'version = $2'];
  if (group !== undefined) where.push(`grp = ${put(group)}`);
  // A range of the primary key only, so that the planner cannot walk an index by `sort` instead: a look-up
  // must not read every row.
  if (keyPrefix !== undefined)
    where.push(`key >= ${put(keyPrefix)}`, `key < ${put(`${keyPrefix}\u{10ffff}`)}`);
  const sort = keyPrefix === undefined ? 'sort' : "(sort || '')";
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

/** The result of reading the signed rows of a projection. */
export type Signed =
  | { readonly state: 'as signed'; readonly rows: readonly ProjectedRow[] }
  /** They lag behind the log, have no signed note, or differ from it. */
  | { readonly state: 'behind' | 'unsigned' | 'changed' };

/** The rows of the signed groups, compared with what was signed, all at one moment. */
export async function signedRows(session: Session, projection: Projection): Promise<Signed> {
  const { name, version, vouched = [] } = projection;
  const [answer] = await session.query<{
    readonly size: number;
    readonly upto: number;
    readonly note: string | null;
    readonly rows: readonly StoredRow[] | null;
  }>(SIGNED, [name, version, vouched, VOUCHERS]);
  const { size = 0, upto = 0, note, rows } = answer ?? {};
  if (size !== upto) return { state: 'behind' };
  if (size === 0) return { state: 'as signed', rows: [] };
  const { origin, keys } = await hearStore(session);
  const claim = vouchedIn(note ?? undefined, [...keys.values()]);
  if (!isAbout(claim, { origin, size, projection })) return { state: 'unsigned' };
  if (!fitsClaim(claim, projection, rows ?? [])) return { state: 'changed' };
  return { state: 'as signed', rows: (rows ?? []).map((row) => ({ ...row, value: JSON.parse(row.value) })) };
}

/**
 * The lists whose signed rows are not what was signed, in words; lists without a signed note are compared
 * with the entries.
 */
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

async function sizeOf(session: Session): Promise<number> {
  const [head] = await session.query<{ size: number }>('select max(size) as size from lifeboat.heads');
  return head?.size ?? 0;
}

const KEPT =
  'select key, grp as "group", sort, value from lifeboat.rows where projection = $1 and version = $2';

const SIGNED = `select coalesce((select max(size) from lifeboat.heads), 0) as size,
  coalesce((select upto from lifeboat.projections where name = $1 and version = $2), 0) as upto,
  (select value from lifeboat.rows where projection = $4 and version = $2 and key = $1) as note,
  (select json_agg(json_build_object('key', key, 'group', grp, 'sort', sort, 'value', value)) from lifeboat.rows
    where projection = $1 and version = $2 and grp = any ($3::text[])) as rows`;

/** PostgreSQL text cannot hold NUL or a lone surrogate. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** A folded row as stored here. */
export function rowStored(
  key: string,
  row: { readonly group: string; readonly sort: string; readonly value: unknown },
) {
  return { key, group: storable(row.group), sort: storable(row.sort), value: JSON.stringify(row.value) };
}
