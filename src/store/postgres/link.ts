import { setTimeout as pause } from 'node:timers/promises';
import { Client, type ClientConfig, types } from 'pg';
import { LifeboatError } from '../../base/errors.ts';
import { type Address, findPassword, named, type Server, tlsOf } from './address.ts';
import { isBroken, isRefusal, pooled, refused, standby, unbound, unreachable } from './trouble.ts';

/** Statements may be sent without waiting for earlier ones. */
export interface Session {
  /** One statement, prepared on first use. */
  query<Row extends object>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Several statements without values; discards the results. */
  script(sql: string): Promise<void>;
  /** For foreign texts: one unprepared statement, or several without values. Gives the rows of each. */
  run(sql: string, values?: readonly unknown[]): Promise<readonly { readonly rows: object[] }[]>;
  /** Sends the queries made inside as one packet. */
  atOnce<T>(send: () => T): T;
  /** Grows with each new connection of this link. */
  readonly connection: number;
  /** Until the connection is gone. */
  onNotice(listener: () => void): void;
}

/** Made on demand and again after it breaks. Its users take turns. */
export interface Link {
  /**
   * Rejects with `journal.unreachable` if the connection cannot be made or breaks: then the statement in
   * flight may or may not have run. PostgreSQL's errors come unchanged and leave no transaction open.
   */
  use<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Once for each connection that is gone. */
  onBreak(listener: () => void): void;
  close(): Promise<void>;
}

export interface LinkOptions {
  readonly address: Address;
  readonly env: NodeJS.ProcessEnv;
  /** Shown in `pg_stat_activity`. */
  readonly name: string;
  /** For a statement. Milliseconds. */
  readonly statementTimeout: number;
  /** After this the server cuts off a client that is idle inside a transaction. Milliseconds. */
  readonly idleTimeout: number;
  readonly readOnly: boolean;
  /** Checks each new connection before use. */
  readonly greet?: (session: Session) => Promise<void>;
}

/** Milliseconds beyond the server's own limit: the answer may be lost on the way. */
const GRACE = 2_000;
const KEEP_ALIVE = 5_000;
const PARTING = 500;
/** The oldest accepted `server_version_num`. */
const OLDEST = 150_000;

export function createLink(options: LinkOptions): Link {
  const { address, readOnly } = options;
  const servers = address.servers.map(named).join(', ');
  const breakers = new Set<() => void>();
  let current: { readonly client: Client; readonly session: Session } | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let connections = 0;
  let favourite = 0;
  let closed = false;

  const drop = async (client: Client) => {
    if (current?.client === client) {
      current = undefined;
      for (const tell of breakers) tell();
    }
    await leave(client);
  };

  const connected = async () => {
    if (current !== undefined) return current;
    const { client, at } = await firstPrimary(options, favourite).catch((error: unknown) => {
      throw unreachable(error, servers, readOnly);
    });
    favourite = at;
    connections += 1;
    const session = sessionOf(client, connections);
    const made = { client, session };
    client.on('error', () => void drop(client));
    client.on('end', () => void drop(client));
    try {
      await options.greet?.(session);
    } catch (error) {
      await drop(client);
      throw error;
    }
    current = made;
    return made;
  };

  const use = async <T>(work: (session: Session) => Promise<T>): Promise<T> => {
    if (closed) throw closedStore();
    let made: Awaited<ReturnType<typeof connected>> | undefined;
    try {
      made = await connected();
      return await work(made.session);
    } catch (error) {
      // The next user must not inherit an unfinished transaction.
      if (made !== undefined && (isBroken(error) || made.client.getTransactionStatus() !== 'I'))
        await drop(made.client);
      if (isBroken(error)) throw unreachable(error, servers, readOnly);
      throw error;
    }
  };

  return {
    use(work) {
      const turn = last.then(() => use(work));
      last = turn.catch(() => undefined);
      return turn;
    },
    onBreak: (listener) => breakers.add(listener),
    async close() {
      closed = true;
      await last;
      if (current !== undefined) await drop(current.client);
    },
  };
}

/** Closes what was opened for a first check that fails. */
export async function orClosed<T>(look: Promise<T>, close: () => Promise<void>): Promise<T> {
  return await look.catch(async (error: unknown) => {
    await close();
    throw error;
  });
}

export function closedStore(): LifeboatError {
  return new LifeboatError('journal.closed', 'the journal is closed');
}

/** Tries first the server that answered last, and takes the first that is not a standby. */
async function firstPrimary(options: LinkOptions, favourite: number) {
  const { servers } = options.address;
  const order = servers.map((_, index) => (index + favourite) % servers.length);
  const errors: unknown[] = [];
  for (const at of order) {
    const server = servers[at];
    if (server === undefined) continue;
    try {
      return { client: await connect(options, server), at };
    } catch (error) {
      errors.push(error);
    }
  }
  // A standby that answers says more than a primary that does not.
  throw errors.find(isRefusal) ?? errors.find((error) => error instanceof LifeboatError) ?? errors[0];
}

async function connect(options: LinkOptions, server: Server): Promise<Client> {
  const { address, env } = options;
  const password = findPassword(address, server, env);
  const hints = 'why' in password ? [`no password was sent: ${password.why}`] : [];
  const config = {
    ...configOf(options, server),
    password: async () => ('secret' in password ? password.secret.reveal() : ''),
  };
  try {
    return await greeted(config, options, server);
  } catch (error) {
    if (isPlain(error) && address.sslmode === 'prefer')
      return await greeted({ ...config, ssl: false }, options, server).catch((second) => {
        throw explained(second);
      });
    throw explained(error);
  }

  function explained(error: unknown): unknown {
    if (error instanceof Error && /unsupported startup parameter/u.test(error.message)) return pooled();
    const { user, database } = address;
    return isRefusal(error) ? refused(error, { user, database, server: named(server), hints }) : error;
  }
}

function configOf(
  { address, name, statementTimeout, idleTimeout }: LinkOptions,
  server: Server,
): ClientConfig {
  return {
    host: server.address ?? server.host,
    port: server.port,
    user: address.user,
    database: address.database,
    ssl: tlsOf(address, server),
    enableChannelBinding: address.channelBinding !== 'disable',
    ...(address.options === undefined ? {} : { options: address.options }),
    application_name: name,
    connectionTimeoutMillis: address.connectTimeout,
    statement_timeout: statementTimeout,
    query_timeout: statementTimeout + GRACE,
    idle_in_transaction_session_timeout: idleTimeout,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE,
    pipeline: true,
    types: { getTypeParser: parserOf as typeof types.getTypeParser },
  };
}

/** Milliseconds to wait for a pooler's answer. */
const PROBE_MS = 2_000;

/** A pooler without a free connection makes the second one wait. */
const PROBE = { connectionTimeoutMillis: PROBE_MS, query_timeout: PROBE_MS };

async function greeted(
  config: ClientConfig,
  { readOnly, address }: LinkOptions,
  server: Server,
): Promise<Client> {
  const client = new Client(config);
  // The user gets the error from the failing statement; before that, from `connect`.
  client.on('error', () => undefined);
  if (address.channelBinding === 'require') demandBinding(client, server);
  try {
    await client.connect();
    const { rows } = await client.query<Greeting>(GREETING, [readOnly ? 'on' : 'off']);
    const [greeting] = rows;
    if (greeting === undefined || greeting.version < OLDEST) throw tooOld(greeting?.version);
    if (greeting.standby) throw standby(named(server));
    if (greeting.pid !== processOf(client))
      await assertNotPooled(client, new Client({ ...config, ...PROBE }), greeting.pid);
    return client;
  } catch (error) {
    await leave(client);
    throw error;
  }
}

/**
 * Ends a connection on which the server would learn a password, or accept the client, without binding to its
 * certificate: libpq's `channel_binding=require`, which the driver only treats as a preference.
 */
function demandBinding({ connection }: Client, server: Server): void {
  let isBound = false;
  const end = () => {
    connection.emit('error', unbound(named(server)));
    connection.stream.destroy();
  };
  connection.on('authenticationCleartextPassword', end);
  connection.on('authenticationMD5Password', end);
  connection.on('authenticationSASL', ({ mechanisms }: { readonly mechanisms: readonly string[] }) => {
    isBound = 'encrypted' in connection.stream && mechanisms.includes('SCRAM-SHA-256-PLUS');
    if (!isBound) end();
  });
  connection.on('authenticationOk', () => {
    if (!isBound) end();
  });
}

interface Greeting {
  /** Of the server process. */
  readonly pid: number;
  readonly version: number;
  readonly standby: boolean;
}

/*
 * Acknowledged writes must be on disk, whatever the settings of the database or role; a stronger setting
 * stays. Names are found only with their schema. Plans are those for large tables from the start; a writer
 * keeps the plans of its few statements, since planning one takes longer than running it.
 */
const GREETING = `select pg_backend_pid() as pid, current_setting('server_version_num')::int as version, pg_is_in_recovery() as standby,
  set_config('default_transaction_read_only', $1, false), set_config('search_path', '', false),
  set_config('default_transaction_isolation', 'read committed', false), set_config('TimeZone', 'UTC', false),
  set_config('enable_seqscan', 'off', false), set_config('jit', 'off', false),
  set_config('plan_cache_mode', case when $1 = 'off' then 'force_generic_plan' else 'auto' end, false),
  set_config('enable_hashjoin', $1, false), set_config('enable_mergejoin', $1, false),
  set_config('synchronous_commit', case when current_setting('synchronous_commit') in ('off', 'local')
    then 'on' else current_setting('synchronous_commit') end, false)`;

function tooOld(version: number | undefined): LifeboatError {
  const number = Math.floor((version ?? 0) / 10_000);
  return new LifeboatError(
    'journal.version',
    `the database is PostgreSQL ${number}, and the store needs 15 or newer`,
  );
}

function sessionOf(client: Client, connection: number): Session {
  return {
    connection,
    async query<Row extends object>(sql: string, values: readonly unknown[] = []) {
      const { rows } = await client.query<Row>({ name: nameOf(sql), text: sql, values: [...values] });
      return rows;
    },
    async script(sql) {
      await client.query(sql);
    },
    async run(sql, values = []) {
      // The server takes several statements only as a text without values.
      const result = await (values.length > 0 ? client.query(sql, [...values]) : client.query(sql));
      return [result].flat();
    },
    atOnce(send) {
      const { stream } = client.connection;
      stream.cork();
      try {
        return send();
      } finally {
        stream.uncork();
      }
    },
    onNotice: (listener) => client.on('notification', listener),
  };
}

/** Does not wait for a server that cannot hear it. */
async function leave(client: Client): Promise<void> {
  const patience = Promise.withResolvers<void>();
  const timer = setTimeout(patience.resolve, PARTING);
  await Promise.race([client.end().catch(() => undefined), patience.promise]);
  clearTimeout(timer);
  client.connection.stream.destroy();
}

const names = new Map<string, string>();

/** Prepared statements need a name; the texts are few and constant. */
function nameOf(sql: string): string {
  const name = names.get(sql) ?? `s${names.size}`;
  names.set(sql, name);
  return name;
}

/** `bigint` as a number: none here comes near 2^53. */
function parserOf(oid: number, format?: 'text' | 'binary') {
  return oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format as 'text');
}

function isPlain(error: unknown): boolean {
  return error instanceof Error && /does not support SSL/u.test(error.message);
}

/** As the server stated at the start of the connection. */
function processOf(client: Client): number | undefined {
  return (client as Client & { readonly processID?: number }).processID;
}

/**
 * Called if another server process answers than was announced: a pooler stands between. One that gives each
 * transaction another connection separates locks and prepared statements from their creator. It shows when
 * the process of this connection, `pid`, also serves a second one that is in a transaction, or when this
 * connection gets another process. Rejects with `journal.pooled` then. Ends the second connection, `other`.
 */
async function assertNotPooled(client: Client, other: Client, pid: number): Promise<void> {
  other.on('error', () => undefined);
  try {
    await other.connect();
    await other.query('begin');
    const theirs = await processNow(other);
    const ours = await Promise.race([processNow(client), pause(PROBE_MS, undefined, { ref: false })]);
    if (ours === pid && theirs !== pid) return;
  } catch {
    // The pooler has no second connection, and a store needs several.
  } finally {
    other.connection.stream.destroy();
  }
  throw pooled();
}

async function processNow(one: Client): Promise<number | undefined> {
  const { rows } = await one.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' });
  return rows[0]?.pid;
}
