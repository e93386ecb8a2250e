import type { Entry, ProjectedRow, RowQuery } from '../journal.ts';
import { foldTouched, touchedBy } from '../projected.ts';
import type { Projection } from '../projections/projection.ts';
import type { Link, Session } from './link.ts';
import { columnsOf, readLeaves } from './queries.ts';
import { TAKE_LEAD } from './schema.ts';

/** How far one version keeps the rows of a projection. Lifeboats of two versions may share a store. */
export interface Version {
  readonly name: string;
  readonly version: number;
  /** They say what the first so many leaves say. */
  readonly upto: number;
}

/** A row as it is written; one without a value is removed. */
export interface KeptRow {
  readonly projection: string;
  readonly version: number;
  readonly key: string;
  readonly grp: string;
  readonly sort: string;
  readonly value: string | null;
}

/** What these entries make of the rows that they change, inside the transaction that sequences them. */
export async function foldRows(
  session: Session,
  projections: readonly Projection[],
  entries: readonly Entry[],
): Promise<readonly KeptRow[]> {
  const touched = touchedBy(projections, entries);
  if (touched.length === 0) return [];
  const found = await session.query<KeptRow>(
    `select projection, version, key, grp, sort, value from lifeboat.rows
     join unnest($1::text[], $2::int[], $3::text[]) t(projection, version, key) using (projection, version, key)`,
    [
      touched.map(({ projection }) => projection.name),
      touched.map(({ projection }) => projection.version),
      touched.map(({ key }) => storable(key)),
    ],
  );
  const before = new Map(found.map((row) => [`${row.projection}/${row.key}`, row]));
  return touched.flatMap((one): readonly KeptRow[] => {
    const { name, version } = one.projection;
    const key = storable(one.key);
    const kept = before.get(`${name}/${key}`);
    const row = foldTouched(
      one,
      kept && { group: kept.grp, sort: kept.sort, value: JSON.parse(kept.value ?? 'null') },
    );
    if (row === undefined && kept === undefined) return [];
    const { group, sort, value } = row ?? { group: '', sort: '', value: null };
    return [
      {
        projection: name,
        version,
        key,
        grp: storable(group),
        sort: storable(sort),
        value: row === undefined ? null : JSON.stringify(value),
      },
    ];
  });
}

/** What is read of a projection; undefined where its rows are behind the log. */
export async function selectKept(
  session: Session,
  { name, version }: Projection,
  query: RowQuery = {},
): Promise<readonly ProjectedRow[] | undefined> {
  const { group, keyPrefix, limit, order } = query;
  const direction = order === 'descending' ? 'desc' : 'asc';
  const values: unknown[] = [name, version];
  const put = (value: unknown) => `$${values.push(value)}`;
  const where = ['projection = $1', 'version = $2'];
  if (group !== undefined) where.push(`grp = ${put(group)}`);
  // A range of the primary key, and nothing that lets the planner walk an index by `sort` instead: a look-up
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
  if (state[0]?.current !== true) return undefined;
  return rows.map((row) => ({ ...row, value: JSON.parse(row.value) }));
}

/** Leaves that are folded in one transaction while rows are brought up to date; appends go on in between. */
const PAGE = 2_000;

/**
 * Brings the rows of a projection up to the log: those of a new version are made from the first entry on, and
 * those of an older one go. Rejects with `journal.damaged` for an entry that cannot be read.
 */
export async function catchUp(link: Link, projection: Projection): Promise<void> {
  for (let isBehind = true; isBehind; ) isBehind = await link.use((session) => foldPage(session, projection));
}

/** Drops the rows of these projections, in one transaction; whoever comes first makes them anew. */
export async function forgetRows(session: Session, projections: readonly Projection[]): Promise<void> {
  const named = columnsOf(projections, 'name', 'version');
  await Promise.all([session.query('begin'), session.query(TAKE_LEAD)]);
  await Promise.all([
    session.query(
      'delete from lifeboat.rows where (projection, version) in (select * from unnest($1::text[], $2::int[]))',
      named,
    ),
    session.query(
      'delete from lifeboat.projections where (name, version) in (select * from unnest($1::text[], $2::int[]))',
      named,
    ),
    session.query('commit'),
  ]);
}

async function foldPage(session: Session, projection: Projection): Promise<boolean> {
  const { name, version } = projection;
  await Promise.all([session.query('begin'), session.query(TAKE_LEAD)]);
  const [state] = await session.query<{ upto: number; size: number }>(
    `select coalesce((select upto from lifeboat.projections where name = $1 and version = $2), 0) as upto,
       coalesce((select max(size) from lifeboat.heads), 0) as size`,
    [name, version],
  );
  const { upto, size } = state ?? { upto: 0, size: 0 };
  const entries = upto < size ? await readLeaves(session, upto, PAGE) : [];
  const folded = await foldRows(session, [projection], entries);
  const reached = entries.length === 0 ? size : (entries.at(-1)?.index ?? 0) + 1;
  const kept = session.query(KEEP, [name, version, reached, JSON.stringify(folded)]);
  // Once, when this version is new here: one that is still in use makes its rows again.
  const tidied = upto > 0 ? [] : [OLDER_ROWS, OLDER].map((sql) => session.query(sql, [name, version]));
  await Promise.all([kept, ...tidied, session.query('commit')]);
  return reached < size;
}

const OLDER_ROWS = 'delete from lifeboat.rows where projection = $1 and version < $2';
const OLDER = 'delete from lifeboat.projections where name = $1 and version < $2';

const KEEP = `with projected as (
  insert into lifeboat.projections (name, version, upto) values ($1, $2, $3)
  on conflict (name, version) do update set upto = excluded.upto
), folded as materialized (
  select * from json_to_recordset($4::json) as f(projection text, version int, key text, grp text, sort text, value text)
), removed as (
  delete from lifeboat.rows r using folded f
  where f.value is null and r.projection = f.projection and r.version = f.version and r.key = f.key
)
insert into lifeboat.rows select projection, version, key, grp, sort, value from folded where value is not null
on conflict (projection, version, key) do update set grp = excluded.grp, sort = excluded.sort, value = excluded.value`;

/** PostgreSQL keeps no NUL in a text, and no half of a character. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}
