import { show } from '../../base/text.ts';
import { peaksOf } from '../log/merkle.ts';
import { type LogTip, type StoredHead, type StoredLeaf, verifiedTip } from '../log/next-leaves.ts';
import { type Arrival, layDown, type MovedFrom } from '../moving.ts';
import { inPages } from '../reading.ts';
import type { StoreRights } from '../rights.ts';
import type { Volume } from '../volume.ts';
import { named, parseAddress } from './address.ts';
import { holderIn } from './leases.ts';
import { createLink, type Link, orClosed, type Session } from './link.ts';
import { storedNodes } from './log.ts';
import { columnsOf, hearStore, storedLeaves } from './queries.ts';
import { rightsIn } from './rights.ts';
import { assertVersion, TAKE_LEAD } from './schema.ts';
import { refused } from './trouble.ts';
import { volumeIn } from './volume.ts';

interface Where {
  /** `postgres://…`, without a password. */
  readonly address: string;
  readonly env: NodeJS.ProcessEnv;
}

const PAGE = 500;
/** Milliseconds for a page of large entries on a slow line. */
const PATIENCE = 120_000;

/** To move a store; call `close` afterwards. Rejects as `openPostgresForReading` does. */
export async function movedFromPostgres(where: Where): Promise<MovedFrom & { close(): Promise<void> }> {
  const link = linkTo(where, { readOnly: true });
  const ask = <T>(look: (session: Session) => Promise<T>) => inWords(where, () => link.use(look));
  await orClosed(ask(assertVersion), link.close);
  return {
    stored: (from) =>
      inPages(
        from,
        PAGE,
        (next) => ask((session) => storedLeaves(session, next, PAGE)),
        ({ index }) => index + 1,
      ),
    heads: (above) =>
      inPages(
        above,
        PAGE,
        (next) => ask((session) => session.query<StoredHead>(HEADS, [next])),
        ({ size }) => size,
      ),
    close: link.close,
  };
}

const HEADS = `select size, note, installation, coalesce((select max(v.size) from lifeboat.vouched v
  where v.installation = h.installation and v.size <= h.size), 0) as vouched
from lifeboat.heads h where size > $1 order by size limit ${PAGE}`;

/**
 * Writes a moved store into a database in one transaction. It writes what a member of the team may not, such
 * as the time of an entry, so the user must be the one who created the store (`journal.refused`). Rejects
 * with the errors of `layDown` and `openPostgresStore`.
 */
export async function landInPostgres(where: Where, from: MovedFrom, arrival: Arrival): Promise<void> {
  const link = linkTo(where, { readOnly: false });
  const land = async (session: Session) => {
    await assertVersion(session);
    await Promise.all([session.query('begin'), session.query(TAKE_LEAD)]);
    const into = {
      tip: await tipOf(session),
      leaves: async (leaves: readonly StoredLeaf[]) => {
        for (let at = 0; at < leaves.length; at += PAGE)
          await insertLeaves(session, leaves.slice(at, at + PAGE));
      },
      heads: (heads: readonly StoredHead[]) => insertHeads(session, heads),
    };
    await layDown(from, into, arrival);
    await session.query('commit');
  };
  try {
    // The next opener builds the rows of projections from the entries.
    await inWords(where, () => link.use(land));
  } finally {
    await link.close();
  }
}

export async function holdersInPostgres(where: Where): Promise<readonly string[]> {
  const found = await lookIn(where, (session) =>
    session.query<{ resource: string; holder: string; since: string }>(HOLDERS),
  );
  return found.map(
    ({ resource, holder, since }) =>
      `${holderInWords(holder)}, which has held ${show(resource, 120)} since ${since}`,
  );
}

/** Rejects as `openPostgresForReading` does. */
export function volumeOfPostgres(where: Where): Promise<Volume> {
  return lookIn(where, volumeIn);
}

/** Of the address's user. Rejects as `openPostgresForReading` does. */
export function rightsInPostgres(where: Where): Promise<StoreRights> {
  return lookIn(where, rightsIn);
}

async function lookIn<T>(where: Where, look: (session: Session) => Promise<T>): Promise<T> {
  const link = linkTo(where, { readOnly: true });
  try {
    return await inWords(where, () =>
      link.use(async (session) => {
        await assertVersion(session);
        return look(session);
      }),
    );
  } finally {
    await link.close();
  }
}

const HOLDERS = `select resource, holder, to_char(since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
from lifeboat.leases where until > clock_timestamp() order by since desc, resource limit 20`;

function holderInWords(text: string): string {
  const who = holderIn(text);
  return who === undefined ? 'somebody' : `${show(who.by, 80)}, process ${who.pid} on ${show(who.host, 60)}`;
}

function linkTo({ address, env }: Where, { readOnly }: { readonly readOnly: boolean }): Link {
  const options = { name: 'lifeboat store', statementTimeout: PATIENCE, idleTimeout: PATIENCE, readOnly };
  return createLink({ address: parseAddress(address, env), env, ...options });
}

async function inWords<T>({ address: url, env }: Where, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { user, database, servers } = parseAddress(url, env);
    throw refused(error, { user, database, server: servers.map(named).join(', ') });
  }
}

/** Verified. */
async function tipOf(session: Session): Promise<LogTip> {
  const [found] = await session.query<{ size: number }>(
    'select coalesce(max(leaf) + 1, 0) as size from lifeboat.leaves',
  );
  const size = found?.size ?? 0;
  const names = peaksOf(size);
  const stored = await storedNodes(session, names);
  const peaks = names.map(({ level, index }) => Buffer.from(stored(level, index) ?? []));
  const [head] = await session.query<StoredHead>(
    'select size, note, installation, 0 as vouched from lifeboat.heads order by size desc limit 1',
  );
  return verifiedTip({ frontier: { size, peaks }, head, said: await hearStore(session) });
}

const LEAVES = `with given as (
  select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bytea[], $9::bytea[])
    g(leaf, stream, seq, at, by, type, body, hash, tree)
), written as (
  insert into lifeboat.entries (stream, seq, at, by, type, body, append, signature)
  select stream, seq, at, by, type, body, gen_random_uuid(), '' from given order by leaf returning id, stream, seq
)
insert into lifeboat.leaves (leaf, id, hash, tree)
select given.leaf, written.id, given.hash, given.tree from given join written using (stream, seq)`;

async function insertLeaves(session: Session, leaves: readonly StoredLeaf[]): Promise<void> {
  const rows = leaves.map((leaf) => ({ ...leaf, hash: Buffer.from(leaf.hash, 'hex') }));
  const names = ['index', 'stream', 'seq', 'at', 'by', 'type', 'body', 'hash', 'tree'] as const;
  await session.query(LEAVES, columnsOf(rows, ...names));
}

const HEADS_IN = `with given as (
  select * from unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[]) g(size, note, installation, vouched)
), vouching as (
  insert into lifeboat.vouched (installation, size)
  select distinct installation, vouched from given where vouched > 0 on conflict do nothing
)
insert into lifeboat.heads (size, note, installation, floor)
select size, note, installation, pg_snapshot_xmin(pg_current_snapshot()) from given order by size`;

async function insertHeads(session: Session, heads: readonly StoredHead[]): Promise<void> {
  await session.query(HEADS_IN, columnsOf(heads, 'size', 'note', 'installation', 'vouched'));
}
