import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { VOUCHERS } from '../vouched-rows.ts';
import { named, parseAddress } from './address.ts';
import { createLink, type Session } from './link.ts';
import { refused, sqlState } from './trouble.ts';

/** In `lifeboat.store`; a lifeboat opens only its own version. */
const SCHEMA_VERSION = 2;

/** The role of a team's members: they read everything, append, and change nothing. */
export const MEMBER = 'lifeboat_member';

/** Advisory locks: "LIFE" in ASCII, then a number. One process sequences; the others wait at the gate. */
const LOCKS = 0x4c494645;
const [SEQUENCER, GATE] = [`${LOCKS}, 1`, `${LOCKS}, 2`];
const INIT_LOCK = `${LOCKS}, 3`;
/** No one holds the store's own stream: its writers take turns, each until its transaction ends. */
export const TAKE_LOG_STREAM = `select pg_advisory_xact_lock(${LOCKS}, 4)`;

/** Until the transaction ends. `idle_in_transaction_session_timeout` cuts off a client idle with it. */
export const TAKE_LEAD = `select pg_advisory_xact_lock(${SEQUENCER}), pg_advisory_xact_lock(${GATE})`;

/*
 * An append has two steps, so that the single tree is no bottleneck. Many processes commit rows into
 * `entries` at once; then the first process that comes gives leaves to all rows without one, and signs the
 * new head.
 */
const TABLES = `
create table lifeboat.store (version int not null);

create table lifeboat.entries (
  id bigint generated always as identity unique,
  stream text collate "C" not null,
  seq bigint not null check (seq > 0),
  at text collate "C" not null
    default to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  by text not null,
  type text not null,
  body text not null,
  append uuid not null,
  signature text not null,
  tx xid8 not null default pg_current_xact_id(),
  primary key (stream, seq)
);
create index entries_by_tx on lifeboat.entries (tx);

create table lifeboat.leaves (
  leaf bigint primary key,
  id bigint not null unique,
  hash bytea not null check (octet_length(hash) = 32),
  tree bytea not null
);

create table lifeboat.heads (
  size bigint primary key,
  note text not null,
  installation text not null,
  floor xid8 not null
);

create table lifeboat.vouched (
  installation text not null,
  size bigint not null,
  primary key (installation, size)
);

create table lifeboat.leases (
  resource text collate "C" primary key,
  token bigint not null,
  nonce uuid not null,
  holder text not null,
  since timestamptz not null,
  until timestamptz not null
);

create table lifeboat.projections (
  name text collate "C" not null,
  version int not null,
  upto bigint not null,
  primary key (name, version)
);

create table lifeboat.rows (
  projection text collate "C" not null,
  version int not null,
  key text collate "C" not null,
  grp text collate "C" not null,
  sort text collate "C" not null,
  value text not null,
  primary key (projection, version, key)
);
create index rows_by_group on lifeboat.rows (projection, version, grp, sort, key);
create index rows_by_sort on lifeboat.rows (projection, version, sort, key);
`;

/** Not even the owner can change recorded rows; a change of the schema shows in the signed heads. */
const APPEND_ONLY_TABLES = ['entries', 'leaves', 'heads', 'vouched'];

const APPEND_ONLY = `
create function lifeboat.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the journal is append-only' using errcode = 'insufficient_privilege';
end $$;
${APPEND_ONLY_TABLES.map(
  (table) => `
create trigger ${table}_append_only before update or delete or truncate on lifeboat.${table}
  for each statement execute function lifeboat.refuse_change();
alter table lifeboat.${table} enable always trigger ${table}_append_only;`,
).join('')}
`;

/** The locks of `lifeboat.claim`: the gate last, or those at it would find the sequencer locked. */
export const RELEASE = `select pg_advisory_unlock(${SEQUENCER}), pg_advisory_unlock(${GATE}),
  set_config('idle_session_timeout', '0', false)`;

/** Rows that get leaves at once; a large body counts as several, and an append stays together. */
const MAX_AT_ONCE = 1_000;

/*
 * Waits until the given rows have leaves, or until the caller must assign them: then it gets all that it
 * needs, and its session has the locks (RELEASE), whose idleness the server ends. Rows without a leaf are
 * found by the transaction that wrote them: a head keeps the oldest transaction that was not over when its
 * rows were read (floor), so any older row has its leaf. Rows of a dumped and loaded database do not fit that
 * order; then all are examined.
 */
const CLAIM = `
create function lifeboat.claim(streams text[], seqs bigint[], must boolean) returns json language plpgsql
  -- Plans are made while the tables are empty, and kept: they must be those for large ones, where few rows are looked up.
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  set plan_cache_mode = force_generic_plan as $$
declare
  mine bigint[];
  newest lifeboat.heads%rowtype;
  lowest xid8;
  answer json;
begin
  select array_agg(e.id) into mine from unnest(streams, seqs) g(stream, seq)
    join lifeboat.entries e on e.stream = g.stream and e.seq = g.seq;
  if mine is null and not must then
    return json_build_object('done', json_build_array());
  end if;
  loop
    perform pg_advisory_lock_shared(${GATE});
    perform pg_advisory_unlock_shared(${GATE});
    if not must and cardinality(mine) = (select count(*) from lifeboat.leaves l where l.id = any (mine)) then
      return json_build_object('done', (select json_agg(json_build_array(e.stream, e.seq, l.leaf))
        from lifeboat.leaves l join lifeboat.entries e using (id) where l.id = any (mine)));
    end if;
    exit when pg_try_advisory_lock(${SEQUENCER});
    -- The gate is about to be closed: do not ask again and again until it is.
    perform pg_sleep(0.0005);
  end loop;
  perform pg_advisory_lock(${GATE});
  perform set_config('idle_session_timeout', current_setting('idle_in_transaction_session_timeout'), false);
  select * into newest from lifeboat.heads order by size desc limit 1;
  select e.tx into lowest from lifeboat.entries e
    where e.id = any (mine) and not exists (select from lifeboat.leaves l where l.id = e.id) order by e.tx limit 1;
  lowest := case when newest.size is null or streams is null then '0' else least(newest.floor, lowest) end;
  with left_over as materialized (
    select e.id, e.stream, e.seq, e.at, e.by, e.type, e.body, e.append, e.signature,
      max(e.id) over (partition by e.append) as last, 1 + octet_length(e.body) / 16384 as weight
    from lifeboat.entries e
    where e.tx >= lowest and not exists (select from lifeboat.leaves l where l.id = e.id)
  ), fresh as (
    select *, sum(weight) over (order by last) - sum(weight) over (partition by append) as before from left_over
  )
  select json_build_object(
    'head', case when newest.size is null then null else
      json_build_object('size', newest.size, 'note', newest.note, 'installation', newest.installation) end,
    'floor', coalesce(newest.floor::text, '0'),
    'horizon', pg_snapshot_xmin(pg_current_snapshot())::text,
    'leaves', (select coalesce(max(leaf) + 1, 0) from lifeboat.leaves),
    'peaks', (select json_agg(json_build_object('hash', encode(l.hash, 'hex'), 'tree', encode(l.tree, 'hex')) order by l.leaf)
      from generate_series(0, 52) k join lifeboat.leaves l on l.leaf = ((newest.size >> k) << k) - 1
      where (newest.size >> k) & 1 = 1),
    'projections', (select json_agg(p) from lifeboat.projections p),
    'entries', (select json_agg(f order by f.last, f.id) from fresh f where f.before < ${MAX_AT_ONCE}),
    'isPartial', (select coalesce(bool_or(f.before >= ${MAX_AT_ONCE}), false) from fresh f)
  ) into answer;
  return answer;
end $$;
`;

/*
 * Only these functions write what follows from the entries, so that no member's tool changes it by accident.
 * A change by the owner shows in the signed notes (vouched-rows.ts).
 */
const ROWS = `
create function lifeboat.keep(names text[], versions int[], size bigint, folded json) returns void
  language sql security definer set search_path = pg_catalog, pg_temp as $$
  with projected as (
    insert into lifeboat.projections (name, version, upto)
    select name, version, size from unnest(names, versions) p(name, version)
    on conflict (name, version) do update set upto = excluded.upto
  ), fold as materialized (
    select * from json_to_recordset(folded)
      as f(projection text, version int, key text, grp text, sort text, value text)
  ), removed as (
    delete from lifeboat.rows r using fold f
    where f.value is null and r.projection = f.projection and r.version = f.version and r.key = f.key
  )
  insert into lifeboat.rows select projection, version, key, grp, sort, value from fold where value is not null
  on conflict (projection, version, key) do update
    set grp = excluded.grp, sort = excluded.sort, value = excluded.value
$$;
create function lifeboat.forget(names text[], versions int[]) returns void
  language sql security definer set search_path = pg_catalog, pg_temp as $$
  delete from lifeboat.rows where (projection, version) in (select * from unnest(names, versions))
    or projection = '${VOUCHERS}' and (key, version) in (select * from unnest(names, versions));
  delete from lifeboat.projections where (name, version) in (select * from unnest(names, versions));
$$;
create function lifeboat.forget_older(its text, newest int) returns void
  language sql security definer set search_path = pg_catalog, pg_temp as $$
  delete from lifeboat.rows where version < newest
    and (projection = its or projection = '${VOUCHERS}' and key = its);
  delete from lifeboat.projections where name = its and version < newest;
$$;
`;

const ROLE = `
do $$ begin
  create role ${MEMBER} nologin;
exception when duplicate_object or unique_violation then null;
end $$;
`;

const GRANTS = `
grant usage on schema lifeboat to ${MEMBER};
grant select on all tables in schema lifeboat to ${MEMBER};
grant insert (stream, seq, by, type, body, append, signature) on lifeboat.entries to ${MEMBER};
grant insert on lifeboat.leaves, lifeboat.heads, lifeboat.vouched to ${MEMBER};
grant insert, update, delete on lifeboat.leases to ${MEMBER};
revoke insert, update, delete on lifeboat.projections, lifeboat.rows from ${MEMBER};
grant execute on function lifeboat.keep(text[], int[], bigint, json), lifeboat.forget(text[], int[]),
  lifeboat.forget_older(text, int) to ${MEMBER};
grant execute on function lifeboat.claim(text[], bigint[], boolean) to ${MEMBER};
`;

/** Each starts from the version before; the first, from an empty database. */
const MIGRATIONS: readonly string[] = [
  `create schema lifeboat;${TABLES}${APPEND_ONLY}${CLAIM}
revoke all on all functions in schema lifeboat from public;`,
  `${ROWS}revoke all on all functions in schema lifeboat from public;`,
];

interface InstallOptions {
  /** `postgres://…`, without a password. */
  readonly address: string;
  readonly env: NodeJS.ProcessEnv;
}

interface Installed {
  /** Undefined if there was no store. */
  readonly before: number | undefined;
  readonly version: number;
  /** The role for members; this user may lack the right to create it. */
  readonly role: 'there' | 'missing';
  /** What a person with more rights must run for members. */
  readonly toDo: readonly string[];
}

/** Milliseconds. A migration may rewrite a large table, and nothing else waits for it. */
const PATIENCE = 10 * 60_000;

/**
 * Creates the store in one transaction; concurrent calls take turns. One of this version keeps its schema,
 * and gets the members' role and rights where they are missing. Rejects with `journal.version` for another
 * version, which only `migratePostgresStore` changes, or with the errors of a connection.
 */
export async function initPostgresStore(options: InstallOptions): Promise<Installed> {
  return install(options, 'lifeboat store init', (before) => {
    if (before !== undefined && before !== SCHEMA_VERSION) throw otherVersion(before);
  });
}

/**
 * Brings an older store to this version in one transaction; concurrent calls take turns. One of this version
 * stays as it is. Rejects with `journal.none` if there is no store, with `journal.version` if it is newer, or
 * with the errors of a connection.
 */
export async function migratePostgresStore(options: InstallOptions): Promise<Installed> {
  return install(options, 'lifeboat store migrate', (before) => {
    if (before === undefined) throw noStore();
    if (before > SCHEMA_VERSION) throw otherVersion(before);
  });
}

/** `accept` gets the present version, and throws if it must not be touched. */
async function install(
  { address: url, env }: InstallOptions,
  command: 'lifeboat store init' | 'lifeboat store migrate',
  accept: (before: number | undefined) => void,
): Promise<Installed> {
  const address = parseAddress(url, env);
  const link = createLink({
    ...{ address, env, name: command },
    ...{ statementTimeout: PATIENCE, idleTimeout: 60_000, readOnly: false },
  });
  try {
    return await link.use(async (session) => {
      await session.query('begin');
      await session.query(`select pg_advisory_xact_lock(${INIT_LOCK})`);
      await assertEncoding(session);
      const before = await versionOf(session);
      accept(before);
      const hasRole = await bringUp(session, before ?? 0);
      await session.query('commit');
      const toDo = hasRole ? [] : [`create role ${MEMBER} nologin`, `then run \`${command}\` again`];
      return { before, version: SCHEMA_VERSION, role: hasRole ? 'there' : 'missing', toDo };
    });
  } catch (error) {
    const server = address.servers.map(named).join(', ');
    throw refused(error, { user: address.user, database: address.database, server });
  } finally {
    await link.close();
  }
}

/** Returns whether the members' role exists. */
async function bringUp(session: Session, before: number): Promise<boolean> {
  for (const migration of MIGRATIONS.slice(before)) await session.script(migration);
  if (before === 0) await session.query('insert into lifeboat.store (version) values ($1)', [SCHEMA_VERSION]);
  else if (before < SCHEMA_VERSION)
    await session.query('update lifeboat.store set version = $1', [SCHEMA_VERSION]);
  const hasRole = await madeRole(session);
  if (hasRole) await session.script(GRANTS);
  return hasRole;
}

/** Entries may hold any character: another encoding would eventually reject one. */
async function assertEncoding(session: Session): Promise<void> {
  const [{ encoding, name } = { encoding: '', name: '' }] = await session.query<{
    readonly encoding: string;
    readonly name: string;
  }>("select current_setting('server_encoding') as encoding, current_database() as name");
  if (encoding === 'UTF8') return;
  const what = `the database ${show(name, 60)} has the encoding ${show(encoding, 20)}`;
  throw new LifeboatError('journal.encoding', `${what}, and a store needs UTF8`, {
    hints: ['nothing was made: create another one (`createdb --encoding UTF8 --template template0 NAME`)'],
  });
}

async function versionOf(session: Session): Promise<number | undefined> {
  const [there] = await session.query<{ there: boolean }>(
    `select to_regclass('lifeboat.store') is not null as there`,
  );
  if (there?.there !== true) return undefined;
  const [store] = await session.query<{ version: number }>('select version from lifeboat.store');
  return store?.version;
}

/** Refuses a store with a schema of another version. */
export async function assertVersion(session: Session): Promise<void> {
  const version = await versionOf(session);
  if (version === SCHEMA_VERSION) return;
  throw version === undefined ? noStore() : otherVersion(version);
}

function noStore(): LifeboatError {
  return new LifeboatError('journal.none', 'there is no store in this database', {
    hints: ['`lifeboat store init` makes one'],
  });
}

async function madeRole(session: Session): Promise<boolean> {
  await session.query('savepoint role');
  try {
    await session.script(ROLE);
    return true;
  } catch (error) {
    if (sqlState(error) !== '42501') throw error;
    await session.query('rollback to savepoint role');
    const [role] = await session.query('select from pg_roles where rolname = $1', [MEMBER]);
    return role !== undefined;
  }
}

function otherVersion(version: number): LifeboatError {
  const found = show(String(version), 20);
  return new LifeboatError(
    'journal.version',
    `the store has version ${found}, this lifeboat knows ${SCHEMA_VERSION}`,
    {
      hints:
        version < SCHEMA_VERSION
          ? [
              'nothing was changed: the version of lifeboat that made it still works with it',
              'once that is no longer in use: the owner runs `lifeboat store migrate`, which brings it to this version',
            ]
          : ['use the version of lifeboat that made it, or a newer one'],
    },
  );
}
