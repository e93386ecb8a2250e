import { firstLeafSince, type GrownDay, grownSince, type Volume } from '../volume.ts';
import type { Session } from './link.ts';

const BYTES = `select coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 as bytes
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'lifeboat' and c.relkind = 'r'`;

/** Hops between streams by the primary key: counting them must not read all entries. */
const STREAMS = `with recursive hop(stream) as (
  (select stream from lifeboat.entries order by stream limit 1)
  union all
  select (select e.stream from lifeboat.entries e where e.stream > hop.stream order by e.stream limit 1)
  from hop where hop.stream is not null
) select count(stream) as streams from hop`;

const SIZE = 'select coalesce(max(leaf) + 1, 0) as size from lifeboat.leaves';

const TIME = `select e.at from lifeboat.leaves l join lifeboat.entries e using (id)
  where l.leaf >= $1 order by l.leaf limit 1`;

const GROWN = `select left(e.at, 10) as day, count(*) as entries,
    sum(octet_length(e.stream) + octet_length(e.by) + octet_length(e.type) + octet_length(e.body))::float8 as bytes
  from lifeboat.leaves l join lifeboat.entries e using (id)
  where l.leaf >= $1 and e.at >= $2 group by day order by day`;

/** `greatest` ignores nulls: what never happened. */
const VACUUM = `select coalesce(sum(n_dead_tup), 0)::float8 as "deadRows",
    to_char(max(greatest(last_vacuum, last_autovacuum)) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "lastAt"
  from pg_stat_all_tables where schemaname = 'lifeboat'`;

/** Needs only the right to read the store. */
export async function volumeIn(session: Session): Promise<Volume> {
  const one = async <Row extends object>(text: string, values: readonly unknown[] = []) =>
    (await session.query<Row>(text, [...values]))[0];
  const since = grownSince(Date.now());
  const { size = 0 } = (await one<{ size: number }>(SIZE)) ?? {};
  const from = await firstLeafSince(
    since,
    size,
    async (leaf) => (await one<{ at: string }>(TIME, [leaf]))?.at,
  );
  const { lastAt, deadRows = 0 } = (await one<{ deadRows: number; lastAt: string | null }>(VACUUM)) ?? {};
  return {
    bytes: (await one<{ bytes: number }>(BYTES))?.bytes ?? 0,
    streams: (await one<{ streams: number }>(STREAMS))?.streams ?? 0,
    days: await session.query<GrownDay>(GROWN, [from, since]),
    vacuum: { ...(lastAt ? { lastAt } : {}), deadRows },
  };
}
