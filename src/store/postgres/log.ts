import { LifeboatError } from '../../base/errors.ts';
import {
  type Entry,
  LOG_STREAM,
  type Log,
  type LoggedEntry,
  type LogHead,
  type StoredEntry,
} from '../journal.ts';
import {
  consistencyProof,
  inclusionProof,
  type NodeName,
  type NodeOf,
  nodeAt,
  nodesRead,
  placeOf,
  rootOf,
} from '../log/merkle.ts';
import { EMPTY_LOG, rootSaid } from '../log/next-leaves.ts';
import { isStreamName } from '../new-entry.ts';
import { inPages } from '../reading.ts';
import type { Session } from './link.ts';
import { hearStore, storedLeaves } from './queries.ts';
import { rolledBack } from './trouble.ts';
import { type FreshRow, keyOf, leafFieldsOf, unsignedRow } from './write.ts';

/** Retries if the connection breaks. */
export type Ask = <T>(look: (session: Session) => Promise<T>) => Promise<T>;

/** Leaves per read. */
const PAGE = 1_000;

/** Only writers have `vouch`. `installation`: whose vouching is read, if any. */
export function createLog(
  ask: Ask,
  installation: string | undefined,
  checkRows: () => Promise<readonly string[]>,
): Omit<Log, 'vouch'> {
  return {
    origin: () => ask(async (session) => (await hearStore(session)).origin),
    head: () => ask(headOf),
    rootAt: (size) => ask((session) => rootAt(session, size)),
    inclusion: (index, size) => ask((session) => proof(session, (node) => inclusionProof(index, size, node))),
    consistency: (from, size) =>
      ask((session) => proof(session, (node) => consistencyProof(from, size, node))),
    stored: (from) => storedEntries(ask, from),
    // The server checks its own pages and indexes.
    check: checkRows,
    leftOver: () => ask(leftOver),
    count: () => ask(countEntries),
    vouched: () => ask((session) => vouchedBy(session, installation)),
  };
}

/** Hex. Rejects with `journal.damaged` if nodes are missing. */
export async function rootAt(session: Session, size: number): Promise<string> {
  return (await computed(session, (node) => rootOf(size, node))).toString('hex');
}

async function proof(
  session: Session,
  compute: (node: NodeOf) => readonly Buffer[],
): Promise<readonly string[]> {
  return (await computed(session, compute)).map((hash) => hash.toString('hex'));
}

/** Finds the nodes that a computation reads, and fetches them in one query. */
async function computed<T>(session: Session, compute: (node: NodeOf) => T): Promise<T> {
  const stored = await storedNodes(session, nodesRead(compute));
  return compute((level, index) => {
    const node = stored(level, index);
    if (node !== undefined) return node;
    const { leaf } = placeOf(level, index);
    throw new LifeboatError(
      'journal.damaged',
      `entry ${leaf} of the log is missing, or its hashes are missing`,
      {
        hints: ['`lifeboat audit verify` says what else is damaged'],
      },
    );
  });
}

/** In one query; returns those that exist. */
export async function storedNodes(session: Session, names: readonly NodeName[]) {
  const rows = await session.query<{ leaf: number; hash: Buffer; tree: Buffer }>(
    'select leaf, hash, tree from lifeboat.leaves where leaf = any ($1::bigint[])',
    [names.map(({ level, index }) => placeOf(level, index).leaf)],
  );
  const stored = new Map(rows.map((row) => [row.leaf, row]));
  return (level: number, index: number) => {
    const { leaf, place } = placeOf(level, index);
    return nodeAt(stored.get(leaf), place);
  };
}

async function headOf(session: Session): Promise<LogHead> {
  const [head] = await session.query<{ size: number; note: string }>(
    'select size, note from lifeboat.heads order by size desc limit 1',
  );
  if (head === undefined) return EMPTY_LOG;
  try {
    return { ...head, root: await rootAt(session, head.size) };
  } catch (error) {
    if (!(error instanceof LifeboatError)) throw error;
    return { ...head, root: rootSaid(head, error) };
  }
}

/** In leaf order; foreign rows, written by no member of this log, come last, with index -1. */
async function* storedEntries(ask: Ask, from = 0): AsyncGenerator<LoggedEntry> {
  yield* inPages(
    from,
    PAGE,
    (next) => ask((session) => storedLeaves(session, next, PAGE)),
    ({ index }) => index + 1,
  );
  if (from === 0) yield* await ask(foreignRows);
}

/** Those of the log, and foreign ones. */
async function countEntries(session: Session): Promise<number> {
  const [row] = await session.query<{ count: number }>(
    'select count(*) as count from lifeboat.leaves l join lifeboat.entries e using (id)',
  );
  return (row?.count ?? 0) + (await foreignRows(session)).length;
}

/** A live append holds its stream. If the stream is free, its writer died, or the database lied to it. */
async function leftOver(session: Session): Promise<readonly Pick<StoredEntry, 'stream' | 'seq'>[]> {
  const foreign = new Set((await foreignRows(session)).map(keyOf));
  const left = await session.query<Pick<StoredEntry, 'stream' | 'seq'>>(
    `select stream, seq from lifeboat.entries e where stream <> $1
       and not exists (select from lifeboat.leaves l where l.id = e.id)
       and not exists (select from lifeboat.leases h where h.resource = e.stream and h.until > clock_timestamp())
     order by id`,
    [LOG_STREAM],
  );
  return left.filter((row) => !foreign.has(keyOf(row)));
}

/** Rows that never get a leaf; those of an append under way are signed, so not foreign. */
async function foreignRows(session: Session): Promise<readonly LoggedEntry[]> {
  const left = await session.query<FreshRow>(
    `select id, stream, seq, at, by, type, body, append::text, signature from lifeboat.entries e
     where not exists (select from lifeboat.leaves l where l.id = e.id) order by id`,
  );
  if (left.length === 0) return [];
  const keys = [...(await hearStore(session)).keys.values()];
  return [...Map.groupBy(left, ({ append }) => append).values()]
    .filter((rows) => unsignedRow(rows, keys) !== undefined)
    .flat()
    .map((row) => ({ ...leafFieldsOf(row), index: -1, hash: '', tree: '' }));
}

async function vouchedBy(session: Session, installation: string | undefined): Promise<number> {
  const [row] = await session.query<{ size: number }>(
    'select coalesce(max(size), 0) as size from lifeboat.vouched where installation = $1',
    [installation ?? ''],
  );
  return row?.size ?? 0;
}

/** More would not fit into a hint. */
const MAX_NAMED = 12;

/**
 * SQL for the owner of the database, if the last rows are gone and the heads signed over them block appends:
 * no member may remove a head. What remains ends with the newest head that covers only existing rows. Removes
 * the rows after it, and `stray` ones: remains of an append whose other rows were removed, which cannot be
 * signed again. `end`: the last leaf's number plus one. Each line fits into a hint. Pure.
 */
export function setBackSql(
  end: number,
  stray: readonly Pick<StoredEntry, 'stream' | 'seq'>[],
): readonly string[] {
  const behind = '(select coalesce(max(size), 0) from lifeboat.heads)';
  const guards = (how: string) =>
    ['heads', 'entries', 'leaves']
      .map((table) => `alter table lifeboat.${table} ${how} trigger ${table}_append_only;`)
      .join(' ');
  return [
    `begin; ${guards('disable')}`,
    `delete from lifeboat.heads where size > ${end};`,
    `delete from lifeboat.entries where id in (select id from lifeboat.leaves where leaf >= ${behind});`,
    `delete from lifeboat.leaves where leaf >= ${behind};`,
    ...deleteRows(stray),
    `${guards('enable always')} commit;`,
  ];
}

/** Deletes all rows without a leaf if there are very many, or their names cannot be printed. */
function deleteRows(stray: readonly Pick<StoredEntry, 'stream' | 'seq'>[]): readonly string[] {
  const streams = [...Map.groupBy(stray, ({ stream }) => stream)];
  const isPlain = streams.every(([stream, rows]) => isStreamName(stream) && rows.length <= MAX_NAMED);
  if (!isPlain || streams.length > MAX_NAMED)
    return [
      'delete from lifeboat.entries e where not exists (select from lifeboat.leaves l where l.id = e.id);',
    ];
  return streams.map(
    ([stream, rows]) =>
      `delete from lifeboat.entries where stream = '${stream}' and seq in (${rows.map(({ seq }) => seq).join(', ')});`,
  );
}

/** What this process saw acknowledged: a store that has less of it, or something else, was rolled back. */
export interface Seen {
  /** The largest size that the log has had. */
  size(): number;
  acknowledged(entry: Entry): void;
  signed(head: { readonly size: number; readonly root: string }): void;
  /** For a new connection, perhaps to a promoted standby. Rejects with `journal.rolled-back`. */
  check(session: Session): Promise<void>;
  gone(): LifeboatError;
}

export function createSeen(): Seen {
  let last: Pick<Entry, 'index' | 'hash'> | undefined;
  let head: { readonly size: number; readonly root: string } | undefined;
  const gone = (index: number) => rolledBack(`entry ${index} of the log is gone, or is a different one`);
  return {
    size: () => Math.max(head?.size ?? 0, (last?.index ?? -1) + 1),
    acknowledged(entry) {
      if (last === undefined || entry.index > last.index) last = { index: entry.index, hash: entry.hash };
    },
    signed(next) {
      if (head === undefined || next.size > head.size) head = next;
    },
    async check(session) {
      if (last !== undefined) {
        const [leaf] = await session.query<{ hash: string }>(
          `select encode(hash, 'hex') as hash from lifeboat.leaves where leaf = $1`,
          [last.index],
        );
        if (leaf?.hash !== last.hash) throw gone(last.index);
      }
      if (head === undefined) return;
      const root = await rootAt(session, head.size).catch((error: unknown) => {
        // Missing nodes are an answer here; a broken connection is not.
        if (error instanceof LifeboatError) return undefined;
        throw error;
      });
      if (root !== head.root) throw gone(head.size - 1);
    },
    gone: () => rolledBack('what this process has just written is gone'),
  };
}
