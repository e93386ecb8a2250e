import { LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { named, parseAddress } from '../store/postgres/address.ts';
import { createLink, type Session } from '../store/postgres/link.ts';
import { MEMBER } from '../store/postgres/schema.ts';
import { refused, sqlState } from '../store/postgres/trouble.ts';
import { RETRY } from './trouble.ts';

/** Beside the store's schema and not part of the record: it may be dropped and made again. */
export const SCHEMA = 'lifeboat_queue';
/** Its job means "look at this run": never two active for one run, and none is lost in between. */
export const RUNS = 'lifeboat.run';
/** What is due by a schedule. */
export const DUE = 'lifeboat.due';
/** Jobs that failed too often; no worker reads it. */
const LOST = 'lifeboat.lost';

/** The schema version of the bundled pg-boss, from its package. A worker works with no other. */
export const BOSS_SCHEMA = 46;

/** Seconds after which a job whose worker does not report is given to another; pg-boss's least. */
const HEARTBEAT = 10;

/**
 * Most seconds between two reports of a worker. With pg-boss's half of the time, one late report loses the
 * run (janbjorge/pgqueuer#430).
 */
export const BEAT = HEARTBEAT / 3;

const WEEK = 7 * 86_400;

const RETRIED = {
  // A finished job is of no more use.
  deleteAfterSeconds: 600,
  // A job this old is sent again by the look through the journal, if it still matters.
  retentionSeconds: WEEK,
  heartbeatSeconds: HEARTBEAT,
  expireInSeconds: 86_400,
  retryLimit: 1_000,
  retryDelay: RETRY.first,
  retryBackoff: true,
  retryDelayMax: RETRY.most,
  deadLetter: LOST,
};

const QUEUES = [
  { name: LOST, policy: 'standard', options: { deleteAfterSeconds: WEEK, retentionSeconds: WEEK } },
  { name: RUNS, policy: 'singleton', options: RETRIED },
  { name: DUE, policy: 'singleton', options: RETRIED },
] as const;

/*
 * How an append sends its wake-ups (write.ts): pg-boss's insert as a function, so that writers need not know
 * pg-boss. `try_wake` gives up rather than fail or delay the append around it.
 */
const functions = (insert: string) => `
create or replace function ${SCHEMA}.wake(runs text[], times timestamptz[]) returns void
  language plpgsql set lock_timeout = '1s' as $wake$
begin
  execute $insert$${insert}$insert$ using (
    select json_agg(json_build_object('data', json_build_object('run', run), 'singletonKey', run,
      'startAfter', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))::text
    from unnest(runs, times) w(run, at));
  -- What pg-boss leaves to the end of the transaction would fail the append there.
  set constraints all immediate;
end $wake$;
create or replace function ${SCHEMA}.try_wake(runs text[], times timestamptz[]) returns boolean
  language plpgsql as $wake$
begin
  perform ${SCHEMA}.wake(runs, times);
  return true;
exception when others then
  raise warning 'lifeboat: wake-ups were not sent: %', sqlerrm;
  return false;
end $wake$;
`;

const GRANTS = `
grant usage on schema ${SCHEMA} to ${MEMBER};
grant select, insert, update, delete on all tables in schema ${SCHEMA} to ${MEMBER};
revoke insert, update, delete on ${SCHEMA}.version from ${MEMBER};
grant update on ${SCHEMA}.version to ${MEMBER};
grant usage on all sequences in schema ${SCHEMA} to ${MEMBER};
grant execute on all functions in schema ${SCHEMA} to ${MEMBER};
`;

/** Advisory lock: "LIFE" in ASCII, then a number that the store does not use. */
const LOCK = `${0x4c494645}, 5`;

/** Milliseconds. An upgrade may rebuild an index. */
const PATIENCE = 10 * 60_000;

interface Installed {
  readonly state: 'made' | 'there' | 'missing';
  /** What a person with more rights must do first. */
  readonly toDo: readonly string[];
}

interface Migrated extends Omit<Installed, 'state'> {
  readonly state: Installed['state'] | 'migrated';
}

interface InstallOptions {
  /** `postgres://…`, without a password. */
  readonly address: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Makes the queue in a store's database if there is none; concurrent calls take turns. A user without the
 * right gets `toDo`; the store works without a queue. Rejects with `queue.version` for another version, or
 * with the errors of a connection.
 */
export async function installQueue(options: InstallOptions): Promise<Installed> {
  return turn(options, 'lifeboat store init', async (session, before) => {
    if (before !== undefined && before !== BOSS_SCHEMA) throw otherVersion(before);
    await install(session, before);
    return { state: before === undefined ? 'made' : 'there', toDo: [] };
  });
}

/** Brings the queue to this version, or makes it if an older store has none. Otherwise as `installQueue`. */
export async function migrateQueue(options: InstallOptions): Promise<Migrated> {
  return turn<Migrated>(options, 'lifeboat store migrate', async (session, before) => {
    if (before !== undefined && before > BOSS_SCHEMA) throw otherVersion(before);
    await install(session, before);
    return { state: before === undefined ? 'made' : before < BOSS_SCHEMA ? 'migrated' : 'there', toDo: [] };
  });
}

/** `work` gets the version that is there. */
async function turn<Result>(
  { address: url, env }: InstallOptions,
  command: 'lifeboat store init' | 'lifeboat store migrate',
  work: (session: Session, before: number | undefined) => Promise<Result>,
): Promise<Result | { readonly state: 'missing'; readonly toDo: readonly string[] }> {
  const address = parseAddress(url, env);
  const link = createLink({
    ...{ address, env, name: command },
    ...{ statementTimeout: PATIENCE, idleTimeout: 60_000, readOnly: false },
  });
  try {
    return await link.use(async (session) => {
      await session.query(`select pg_advisory_lock(${LOCK})`);
      return await work(session, await versionOf(session));
    });
  } catch (error) {
    const { user, database, servers } = address;
    if (sqlState(error) !== '42501')
      throw refused(error, { user, database, server: servers.map(named).join(', ') });
    return {
      state: 'missing',
      toDo: [
        `grant create on database "${show(database, 60)}" to "${show(user, 60)}", or let the owner of the schema ${SCHEMA} do it`,
        `then run \`${command}\` again: without a queue everything works but workers`,
      ],
    };
  } finally {
    // Its locks end with the connection.
    await link.close();
  }
}

async function install(session: Session, before: number | undefined): Promise<void> {
  const { PgBoss, getConstructionPlans, getMigrationPlans } = await import('pg-boss');
  if (before === undefined) await session.script(getConstructionPlans(SCHEMA));
  // No worker runs during this, so an index may be built in a transaction with all the rest.
  else if (before < BOSS_SCHEMA)
    await session.script(getMigrationPlans(SCHEMA, before).replaceAll(/ concurrently\b/giu, ''));
  const boss = new PgBoss({ db: dbOf(session), schema: SCHEMA });
  for (const { name, policy, options } of QUEUES) {
    await boss.createQueue(name, { policy, ...options });
    await boss.updateQueue(name, options);
  }
  let insert = '';
  const capture = async (text: string) => {
    insert = text;
    return { rows: [] };
  };
  await boss.insert(RUNS, [{ singletonKey: 'run' }], { db: { executeSql: capture } });
  await session.script(functions(insert));
  const [member] = await session.query('select from pg_roles where rolname = $1', [MEMBER]);
  if (member !== undefined) await session.script(GRANTS);
}

/** What pg-boss runs its statements on. */
export function dbOf(session: Pick<Session, 'run'>) {
  return {
    async executeSql(text: string, values?: unknown[]) {
      const results = await session.run(text, values);
      return { rows: results.flatMap(({ rows }) => rows) };
    },
  };
}

async function versionOf(session: Pick<Session, 'query'>): Promise<number | undefined> {
  const [there] = await session.query<{ there: boolean }>(
    `select to_regclass('${SCHEMA}.version') is not null as there`,
  );
  if (there?.there !== true) return undefined;
  const [row] = await session.query<{ version: number }>(`select version from ${SCHEMA}.version`);
  return row?.version;
}

/** Rejects with `queue.none` or `queue.version`. */
export async function assertQueue(session: Pick<Session, 'query'>): Promise<void> {
  const version = await versionOf(session);
  if (version === undefined) throw noQueue();
  if (version !== BOSS_SCHEMA) throw otherVersion(version);
}

export function noQueue(): LifeboatError {
  return new LifeboatError('queue.none', 'the store has no queue, which workers need', {
    hints: ['`lifeboat store init` makes one; everything else works without'],
  });
}

function otherVersion(version: number): LifeboatError {
  const found = show(String(version), 20);
  return new LifeboatError(
    'queue.version',
    `the queue of the store has version ${found}, this lifeboat knows ${BOSS_SCHEMA}`,
    {
      hints:
        version < BOSS_SCHEMA
          ? ['stop all workers, then `lifeboat store migrate` brings it to this version']
          : ['use the version of lifeboat that made it, or a newer one'],
    },
  );
}
