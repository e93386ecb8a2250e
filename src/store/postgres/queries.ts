import { dateAt } from '../../base/date.ts';
import { hashOf } from '../canonical.ts';
import {
  type Entry,
  type Head,
  LOG_STREAM,
  type LoggedEntry,
  type StoredEntry,
  type StreamName,
} from '../journal.ts';
import { hearLog, type LogSays, NOTHING_SAID } from '../log/named-keys.ts';
import { entryOf } from '../new-entry.ts';
import type { Session } from './link.ts';
import { steadyNow } from './steady-clock.ts';

const FIELDS = `l.leaf as index, e.stream, e.seq, e.at, e.by, e.type, e.body, encode(l.hash, 'hex') as hash`;
const ENTRIES = `select ${FIELDS} from lifeboat.entries e join lifeboat.leaves l using (id)`;

/**
 * Verified against the leaves, otherwise throws `journal.damaged`. Skips missing entries: opening the store
 * for writing compares their number with the signed head.
 */
export async function readStream(
  session: Session,
  stream: StreamName,
  fromSeq: number,
): Promise<readonly Entry[]> {
  const stored = await session.query<StoredEntry>(
    `${ENTRIES} where e.stream = $1 and e.seq >= $2 order by e.seq`,
    [stream, fromSeq],
  );
  return stored.map(entryOf);
}

/** Leaves from `from`, at most `limit`; skips missing ones. */
export async function readLeaves(session: Session, from: number, limit: number): Promise<readonly Entry[]> {
  const stored = await session.query<StoredEntry>(`${ENTRIES} where l.leaf >= $1 order by l.leaf limit $2`, [
    from,
    limit,
  ]);
  return stored.map(entryOf);
}

/** As `readLeaves`, unverified. */
export function storedLeaves(session: Session, from: number, limit: number): Promise<readonly LoggedEntry[]> {
  return session.query<LoggedEntry>(
    `select ${FIELDS}, encode(l.tree, 'hex') as tree from lifeboat.entries e join lifeboat.leaves l using (id)
     where l.leaf >= $1 order by l.leaf limit $2`,
    [from, limit],
  );
}

export async function headOf(session: Session, stream: StreamName): Promise<Head> {
  const [head] = await session.query<Head>(
    `select e.seq, encode(l.hash, 'hex') as hash from lifeboat.entries e join lifeboat.leaves l using (id)
     where e.stream = $1 order by e.seq desc limit 1`,
    [stream],
  );
  return { seq: 0, hash: '', ...head, stream };
}

/** Hops between streams by the primary key: reading all heads must not read all entries. */
const STREAMS = `with recursive hop(stream) as (
  (select stream from lifeboat.entries where stream >= $1 order by stream limit 1)
  union all
  select (select e.stream from lifeboat.entries e where e.stream > hop.stream order by e.stream limit 1)
  from hop where hop.stream is not null
)
select h.stream, e.seq, e.hash from hop h cross join lateral (
  select e.seq, encode(l.hash, 'hex') as hash from lifeboat.entries e join lifeboat.leaves l using (id)
  where e.stream = h.stream order by e.seq desc limit 1
) e where starts_with(h.stream, $1) order by h.stream`;

export function streamHeads(session: Session, prefix: string): Promise<readonly Head[]> {
  return session.query<Head>(STREAMS, [prefix]);
}

/**
 * What the log states about itself in all committed rows, including those without a leaf. The row that begins
 * a log counts by its leaf, the first of all; without any leaf, it is the one about to get that leaf.
 */
export async function hearStore(session: Session, said: LogSays = NOTHING_SAID): Promise<LogSays> {
  const rows = await session.query<Omit<StoredEntry, 'hash'>>(
    `select coalesce(l.leaf, case when e.seq = 1 and not exists (select from lifeboat.leaves) then 0 else -1 end)
       as index, e.stream, e.seq, e.at, e.by, e.type, e.body
     from lifeboat.entries e left join lifeboat.leaves l using (id)
     where e.stream = $1 and e.seq > $2 order by e.seq`,
    [LOG_STREAM, said.seq],
  );
  return hearLog(
    said,
    rows.map((row) => entryOf({ ...row, hash: hashOf(row) })),
  );
}

/** Among all committed rows. */
export async function lastSeq(session: Session, stream: StreamName): Promise<number> {
  const [row] = await session.query<{ seq: number }>(
    'select coalesce(max(seq), 0) as seq from lifeboat.entries where stream = $1',
    [stream],
  );
  return row?.seq ?? 0;
}

/** At the end of a stream, without a leaf: their process died before it assigned any. */
export function leftOf(
  session: Session,
  stream: string,
): Promise<readonly { stream: string; seq: number }[]> {
  return session.query<{ stream: string; seq: number }>(
    `select stream, seq from (select id, stream, seq from lifeboat.entries where stream = $1 order by seq desc limit 500) e
     where not exists (select from lifeboat.leaves l where l.id = e.id) order by seq`,
    [stream],
  );
}

/** For `unnest`. */
export function columnsOf<Row>(rows: readonly Row[], ...names: readonly (keyof Row)[]): readonly unknown[][] {
  return names.map((name) => rows.map((row) => row[name]));
}

/** Queried once; advances by the time that passes here, and is never behind. */
export async function databaseClock(session: Session): Promise<() => Date> {
  const asked = steadyNow();
  const [row] = await session.query<{ ms: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
  );
  const ahead = (row?.ms ?? Number.NaN) - asked;
  return () => dateAt(ahead + steadyNow());
}
