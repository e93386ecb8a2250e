import type { KeyObject } from 'node:crypto';
import { type Entry, LOG_STREAM } from '../journal.ts';
import { readCheckpoint } from '../log/checkpoint.ts';
import { lossesIn } from '../log/losses.ts';
import type { LogSays } from '../log/named-keys.ts';
import type { Signer } from '../log/signer.ts';
import { foldTouched, touchedBy } from '../projected.ts';
import type { Projection } from '../projections/projection.ts';
import {
  isAbout,
  NO_ROWS,
  type RowSum,
  type StoredRow,
  summed,
  VOUCHERS,
  vouchedIn,
  vouchFor,
} from '../vouched-rows.ts';
import type { Link, Session } from './link.ts';
import { rootAt } from './log.ts';
import { columnsOf, hearStore, readLeaves, readStream } from './queries.ts';
import { TAKE_LEAD } from './schema.ts';
import { rowStored, signedRows, storable } from './signed-rows.ts';

/** How far one version of a projection keeps its rows. Lifeboats of two versions may share a store. */
export interface Version {
  readonly name: string;
  readonly version: number;
  /** The number of leaves that the rows reflect. */
  readonly upto: number;
}

/** A row to write; one without a value is removed. */
export interface KeptRow {
  readonly projection: string;
  readonly version: number;
  readonly key: string;
  readonly grp: string;
  readonly sort: string;
  readonly value: string | null;
}

/** The step of the log that the entries make, for the notes about rows. */
export interface Step {
  readonly said: LogSays;
  readonly before: number;
  readonly after: number;
  /** Undefined if the log is not what was signed: then the rows are no longer vouched for. */
  readonly signer: Signer | undefined;
}

/**
 * Folds these entries into the rows that they change, inside the transaction that sequences them, and adds
 * the notes that sign the rows.
 */
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

function storedAs({ key, grp, sort, value }: KeptRow): StoredRow {
  return { key, group: grp, sort, value: value ?? 'null' };
}

/** Leaves folded in one transaction while rows catch up; appends go on in between. */
const PAGE = 2_000;

/**
 * Brings the rows of a projection up to date: rows of a new version are built from the first entry, and those
 * of an older one are removed. Rejects with `journal.damaged` for an unreadable entry.
 */
export async function catchUp(link: Link, projection: Projection, signer: Signer): Promise<void> {
  for (let isBehind = true; isBehind; )
    isBehind = await link.use((session) => foldPage(session, projection, signer));
}

/** Brings the rows of a projection up to date, and rebuilds them if they are not what was signed. */
export async function keepUp(link: Link, projection: Projection, signer: Signer): Promise<void> {
  await catchUp(link, projection, signer);
  const isSound = async (session: Session) =>
    projection.vouched === undefined || (await signedRows(session, projection)).state === 'as signed';
  if (await link.use(isSound)) return;
  await link.use((session) => forgetRows(session, [projection]));
  await catchUp(link, projection, signer);
}

/** Drops the rows of these projections in one transaction; the next opener rebuilds them. */
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
  // Only once, when this version first appears here: an older version still in use rebuilds its rows.
  const tidied = upto > 0 ? [] : [session.query(FORGET_OLDER, [name, version])];
  await Promise.all([kept, ...tidied, session.query('commit')]);
  return reached < size;
}

/** Whether the log is what its newest head says, allowing for entries that a person accepted as lost. */
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
