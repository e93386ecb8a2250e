import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { named, parseAddress } from './address.ts';
import { createLink, type Session } from './link.ts';
import { GRANT_ROLE, INIT_LOCK, MAKE_ROLE, MEMBER, MIGRATIONS, SCHEMA_VERSION } from './schema.ts';
import { refused, sqlState } from './trouble.ts';

export interface InitOptions {
  /** `postgres://…`, without a password. */
  readonly address: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface Initialised {
  readonly created: boolean;
  /** The schema's version. */
  readonly version: number;
  /** Whether the role for members exists: this user may lack the right to create it. */
  readonly role: 'there' | 'missing';
  /** The statements that a person with more rights must run for members; empty if there are none. */
  readonly toDo: readonly string[];
}

/** Milliseconds. A migration may rewrite a large table, and nothing else waits for it. */
const PATIENCE = 10 * 60_000;

/**
 * Creates the store in a database, or upgrades it to this version, in one transaction; concurrent calls take
 * turns. Rejects with `journal.version` if the store is newer, or with the errors of a connection.
 */
export async function initPostgresStore({ address: url, env }: InitOptions): Promise<Initialised> {
  const address = parseAddress(url, env);
  const options = { name: 'lifeboat init', statementTimeout: PATIENCE, idleTimeout: 60_000, readOnly: false };
  const link = createLink({ address, env, ...options });
  try {
    return await link.use(initialise);
  } catch (error) {
    const server = address.servers.map(named).join(', ');
    throw refused(error, { user: address.user, database: address.database, server });
  } finally {
    await link.close();
  }
}

async function initialise(session: Session): Promise<Initialised> {
  const run = (sql: string) => session.query(sql);
  await Promise.all([run('begin'), run(`select pg_advisory_xact_lock(${INIT_LOCK})`)]);
  await assertEncoding(session);
  const before = (await versionOf(session)) ?? 0;
  if (before > SCHEMA_VERSION) throw otherVersion(before);
  for (const migration of MIGRATIONS.slice(before)) await session.script(migration);
  if (before === 0) await session.query('insert into lifeboat.store (version) values ($1)', [SCHEMA_VERSION]);
  else await session.query('update lifeboat.store set version = $1', [SCHEMA_VERSION]);
  const hasRole = await madeRole(session);
  if (hasRole) await session.script(GRANT_ROLE);
  await run('commit');
  const toDo = hasRole ? [] : [`create role ${MEMBER} nologin`, 'then run `lifeboat store init` again'];
  return { created: before === 0, version: SCHEMA_VERSION, role: hasRole ? 'there' : 'missing', toDo };
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

/** Undefined if there is no store. */
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
  if (version === undefined)
    throw new LifeboatError('journal.none', 'there is no store in this database', {
      hints: ['`lifeboat store init` makes one'],
    });
  throw otherVersion(version);
}

async function madeRole(session: Session): Promise<boolean> {
  await session.query('savepoint role');
  try {
    await session.script(MAKE_ROLE);
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
          ? ['`lifeboat store init` brings it up to this version']
          : ['use the version of lifeboat that made it, or a newer one'],
    },
  );
}
