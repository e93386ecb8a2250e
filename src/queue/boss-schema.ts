import { LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { named, parseAddress } from '../store/postgres/address.ts';
import { createLink, type Session } from '../store/postgres/link.ts';
import { MEMBER } from '../store/postgres/schema.ts';
import { refused, sqlState } from '../store/postgres/trouble.ts';
import { RETRY } from './trouble.ts';

/** Beside the schema of the store, and no part of the record: it may be dropped, and made again. */
export const SCHEMA = 'lifeboat_queue';
/** Its job is "look at this run"; never two active for one run, and none is lost meanwhile. */
export const RUNS = 'lifeboat.run';
/** What is due by a schedule. */
export const DUE = 'lifeboat.due';
/** Where jobs go that failed too often; nobody works there. */
const LOST = 'lifeboat.lost';

/** The schema of the pg-boss that is bundled, as its package says. A worker works with no other. */
export const BOSS_SCHEMA = 46;

/** Seconds after which a job whose worker does not report is given to another; pg-boss's least. */
const HEARTBEAT = 10;

const RETRIED = {
  // What is over says nothing any more.
  deleteAfterSeconds: 600,
  heartbeatSeconds: HEARTBEAT,
  expireInSeconds: 86_400,
  retryLimit: 1_000,
  retryDelay: RETRY.first,
  retryBackoff: true,
  retryDelayMax: RETRY.most,
  deadLetter: LOST,
};

const QUEUES = [
  { name: LOST, policy: 'standard', options: { deleteAfterSeconds: 7 * 86_400 } },
  { name: RUNS, policy: 'singleton', options: RETRIED },
  { name: DUE, policy: 'singleton', options: RETRIED },
] as const;

/*
 * How an append sends its wake-ups (write.ts): what pg-boss would insert, as a function, so that no writer
 * has to know pg-boss. `try_wake` gives up rather than fail or hold up the append around it.
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

/** Milliseconds. An upgrade may build an index anew. */
const PATIENCE = 10 * 60_000;

export interface Installed {
  readonly state: 'made' | 'there' | 'missing';
  /** What a person with more rights must do first; empty if all is there. */
  readonly toDo: readonly string[];
}

/**
 * Makes the queue in the database of a store, or upgrades it to this version; concurrent calls take turns. A
 * user without the right to make it is told what to do; the store works without. Rejects with
 * `queue.version` if the queue is newer, or with the errors of a connection.
 */
export async function installQueue(options: {
  /** `postgres://…`, without a password. */
  readonly address: string;
  readonly env: NodeJS.ProcessEnv;
}): Promise<Installed> {
  const address = parseAddress(options.address, options.env);
  const link = createLink({
    ...{ address, env: options.env, name: 'lifeboat init' },
    ...{ statementTimeout: PATIENCE, idleTimeout: 60_000, readOnly: false },
  });
  try {
    return await link.use(async (session) => {
      await session.query(`select pg_advisory_lock(${LOCK})`);
      return await install(session);
    });
  } catch (error) {
    const { user, database, servers } = address;
    if (sqlState(error) === '42501') {
      const who = show(user, 60);
      return {
        state: 'missing',
        toDo: [
          `grant create on database "${show(database, 60)}" to "${who}", or let the owner of the schema ${SCHEMA} do it`,
          'then run `lifeboat store init` again: without a queue everything works but workers',
        ],
      };
    }
    throw refused(error, { user, database, server: servers.map(named).join(', ') });
  } finally {
    // Its locks end with the connection.
    await link.close();
  }
}

async function install(session: Session): Promise<Installed> {
  const { PgBoss, getConstructionPlans, getMigrationPlans } = await import('pg-boss');
  const before = await versionOf(session);
  if (before !== undefined && before > BOSS_SCHEMA) throw otherVersion(before);
  if (before === undefined) await session.script(getConstructionPlans(SCHEMA));
  // Nobody works meanwhile, so an index may be built in a transaction with all the rest.
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
  return { state: before === undefined ? 'made' : 'there', toDo: [] };
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

/** Undefined if there is no queue. */
async function versionOf(session: Pick<Session, 'query'>): Promise<number | undefined> {
  const [there] = await session.query<{ there: boolean }>(
    `select to_regclass('${SCHEMA}.version') is not null as there`,
  );
  if (there?.there !== true) return undefined;
  const [row] = await session.query<{ version: number }>(`select version from ${SCHEMA}.version`);
  return row?.version;
}

/** Refuses a queue of another version. Rejects with `queue.none` or `queue.version`. */
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
          ? ['`lifeboat store init` brings it up to this version; no worker may run meanwhile']
          : ['use the version of lifeboat that made it, or a newer one'],
    },
  );
}
