import type { ChildProcess } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { engineUser, exitOf, makeLauncher } from '../../src/lab/engine/launcher.ts';
import { findBinaries } from '../../src/lab/engine/locate-postgres.ts';
import { claimHome } from '../../src/lab/home.ts';
import { makeEmptyDatabase } from './empty-database.ts';
import { until } from './until.ts';

export interface ClusterOptions {
  /** On where a test kills the server or measures; default off. */
  readonly fsync?: boolean;
  /** Lets everybody in over loopback, as `addressOf` names them; default: over the socket only. */
  readonly open?: boolean;
  /** The address of this machine at which it lets in whoever has a password; default: loopback. */
  readonly listen?: string;
}

/** A PostgreSQL for tests, which can be hurt: on a socket that only this user reaches, and on 127.0.0.1. */
export interface Cluster {
  /** Of the socket. */
  readonly folder: string;
  readonly port: number;
  /** The address of a database as the superuser, over the socket. */
  address(database: string): string;
  /** Makes an empty database, or a copy of one without connections, and gives its name. */
  makeDatabase(like?: string): Promise<string>;
  /** As the superuser; the rows of the last statement. */
  query<Row extends object>(sql: string, database?: string, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * SIGQUIT to the server, as `pg_ctl stop -m immediate`: every connection breaks, and the next start
   * recovers from its log.
   */
  crash(): Promise<void>;
  start(): Promise<void>;
  /** Ends it and removes all that it kept. */
  remove(): Promise<void>;
}

export interface PairOptions {
  /** The primary waits for no standby, which may lack what it has acknowledged; default: it does. */
  readonly asynchronous?: boolean;
}

/** Two servers, open over loopback. */
export interface Pair {
  readonly primary: Cluster;
  /** Has every commit before the primary says so, unless it is asynchronous. */
  readonly standby: Cluster;
  /** An asynchronous standby gets nothing more of what the primary acknowledges. */
  leaveBehind(): Promise<void>;
  /** Makes the standby the primary. Resolves when it takes writes. */
  promote(): Promise<void>;
  remove(): Promise<void>;
}

const SUPERUSER = 'postgres';
const READY = /database system is ready to accept (?:read-only )?connections/u;
const OWN = 'local all postgres peer map=own\n';
const BY_PASSWORD = 'host all all all scram-sha-256\n';
const OPEN = 'host all all 127.0.0.1/32 trust\n';
const FOLLOWED = 'host replication all 127.0.0.1/32 trust\n';

/** The address of a database for the superuser over loopback, on one open server or several. */
export function addressOf(ports: readonly number[], database: string): string {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
  const query = ports.length > 1 ? '&target_session_attrs=read-write' : '';
  return `postgres://${SUPERUSER}@${hosts}/${database}?sslmode=disable${query}`;
}

/** A new cluster without anything in it. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const place = await claimPlace(options);
  const { listen } = options;
  return await place.orGone(() => place.run('one', listen === undefined ? {} : { listen_addresses: listen }));
}

/** The standby begins as a copy of the primary's folder, so that no base backup is needed. */
export async function startPair({ asynchronous = false }: PairOptions = {}): Promise<Pair> {
  const place = await claimPlace({ open: true });
  return await place.orGone(async () => {
    await place.copy('one', 'other');
    const primary = await place.run('one', asynchronous ? {} : { synchronous_standby_names: '*' });
    const follows = `host=127.0.0.1 port=${primary.port} user=${SUPERUSER}`;
    const standby = await place.run('other', { primary_conninfo: follows });
    const followers = async (...states: readonly string[]) =>
      (
        await primary.query(
          "select 1 from pg_stat_replication where state = 'streaming' and sync_state = any($1)",
          'postgres',
          [states],
        )
      ).length;
    await until(async () => (await followers(asynchronous ? 'async' : 'sync')) === 1);
    const leaveBehind = async () => {
      await place.letIn('one', OPEN);
      await primary.query('select pg_reload_conf()');
      await until(async () => {
        await primary.query('select pg_terminate_backend(pid) from pg_stat_replication');
        return (await standby.query('select 1 from pg_stat_wal_receiver')).length === 0;
      });
    };
    const promote = async () => {
      await standby.query('select pg_promote(true, 30)');
      const asked = 'select pg_is_in_recovery() as still';
      await until(async () => (await standby.query<{ still: boolean }>(asked))[0]?.still === false);
    };
    return { primary, standby, leaveBehind, promote, remove: primary.remove };
  });
}

/** A folder for servers with an empty database in `one`. It goes with all servers that run in it. */
async function claimPlace({ fsync = false, open = false }: ClusterOptions) {
  const launcher = await makeLauncher(await engineUser());
  const { engine: folder, release } = await claimHome(launcher.user);
  const running: Cluster[] = [];
  const remove = async () => {
    await Promise.all(running.map((server) => server.crash()));
    await release();
  };
  const orGone = async <T>(make: () => Promise<T>): Promise<T> => {
    try {
      return await make();
    } catch (thrown) {
      await remove();
      throw thrown;
    }
  };
  const letIn = (name: string, rules: string) =>
    writeFile(join(folder, name, 'pg_hba.conf'), `${OWN}${rules}`);
  const binaries = await orGone(async () => {
    const found = await findBinaries(launcher, folder);
    const data = join(folder, 'one');
    await makeEmptyDatabase(launcher, found, data);
    await letIn('one', open ? `${OPEN}${FOLLOWED}` : BY_PASSWORD);
    await writeFile(join(data, 'pg_ident.conf'), `own "${userInfo().username}" ${SUPERUSER}\n`);
    return found;
  });
  return {
    orGone,
    letIn,
    copy: (from: string, to: string) => {
      const script = 'cp -pR "$1" "$2" && touch "$2/standby.signal"';
      return launcher.run('/bin/sh', ['-c', script, 'sh', join(folder, from), join(folder, to)]);
    },
    run: async (name: string, settings: Readonly<Record<string, string>> = {}): Promise<Cluster> => {
      const port = await freePort(settings['listen_addresses']);
      const all = {
        ...SETTINGS,
        ...(binaries.major >= 18 && { io_method: 'sync' }),
        fsync: fsync ? 'on' : 'off',
        unix_socket_directories: folder,
        port: String(port),
        ...settings,
      };
      const words = Object.entries(all).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
      const spawn = () => launcher.start(binaries.postgres, ['-D', join(folder, name), ...words]);
      const server = makeServer({ folder, port, spawn, remove });
      running.push(server);
      await server.start();
      return server;
    },
  };
}

interface Ground {
  readonly folder: string;
  readonly port: number;
  readonly spawn: () => ChildProcess;
  readonly remove: () => Promise<void>;
}

function makeServer({ folder, port, spawn, remove }: Ground): Cluster {
  let databases = 0;
  let child: ChildProcess | undefined;
  let gone: Promise<unknown> = Promise.resolve();
  const query: Cluster['query'] = (sql, database, values) =>
    ask({ host: folder, port, database }, sql, values);
  return {
    folder,
    port,
    remove,
    query,
    address: (database) =>
      `postgres://${SUPERUSER}@/${database}?host=${encodeURIComponent(folder)}&port=${port}`,
    async makeDatabase(like = 'template1') {
      databases += 1;
      const name = `t${process.pid}_${databases}`;
      // Copied as files: the other way puts every page into the log of the server as well.
      await query(`create database ${name} template ${like} strategy file_copy`);
      return name;
    },
    // An immediate shutdown writes nothing more, waits for no client and leaves no orphans.
    async crash() {
      child?.kill('SIGQUIT');
      await gone;
    },
    async start() {
      let [said, isReady, isGone] = ['', false, false];
      child = spawn();
      child.stdout?.resume();
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        said = `${said}${text}`.slice(-4_000);
        isReady ||= READY.test(said);
      });
      gone = exitOf(child).finally(() => {
        isGone = true;
      });
      await until(() => isGone || isReady);
      if (isGone) throw new Error(`postgres does not come up: ${said}`);
    },
  };
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_permissions: '0700',
  timezone: 'UTC',
  lc_messages: 'C',
  wal_level: 'replica',
  hot_standby: 'on',
  wal_keep_size: '64MB',
  min_wal_size: '5MB',
  max_wal_size: '64MB',
  shared_buffers: '64MB',
  max_connections: '400',
  autovacuum_max_workers: '1',
  jit: 'off',
  dynamic_shared_memory_type: 'mmap',
  wal_receiver_status_interval: '1s',
  wal_retrieve_retry_interval: '200ms',
};

/** Runs statements as the superuser; gives the rows of the last one. */
export async function ask<Row extends object>(
  { database = 'postgres', ...where }: { host: string; port: number; database?: string | undefined },
  sql: string,
  values?: readonly unknown[],
): Promise<Row[]> {
  const client = new Client({ ...where, user: SUPERUSER, database });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const result = await client.query<Row>(sql, values && [...values]);
    return (Array.isArray(result) ? result.at(-1) : result)?.rows ?? [];
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A port of an address that nothing listens on at this moment. */
async function freePort(host = '127.0.0.1'): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
