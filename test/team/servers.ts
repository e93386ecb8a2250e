import type { ChildProcess } from 'node:child_process';
import { chownSync, readdirSync } from 'node:fs';
import { cp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { findBinaries } from '../../src/lab/engine/binaries.ts';
import { engineUser, exitOf, makeLauncher } from '../../src/lab/engine/launcher.ts';
import { claimHome } from '../../src/lab/home.ts';
import { makeEmptyDatabase } from '../bench-kit/empty-database.ts';

/** One PostgreSQL server on loopback, which can be hurt. */
export interface DatabaseServer {
  readonly port: number;
  /** Runs statements as the superuser; gives the rows of the last one. */
  query(sql: string): Promise<readonly Record<string, unknown>[]>;
  /**
   * Immediate shutdown, as `pg_ctl restart -m immediate` does it, and a start: every connection breaks, and
   * the log is replayed.
   */
  restart(): Promise<void>;
  /** Ends every process of it at once. It is not started again. */
  kill(): Promise<void>;
}

/** Servers below one folder, which is gone when they are closed. */
export interface Servers {
  readonly primary: DatabaseServer;
  /** A standby that has every commit before the primary says so; only where one was asked for. */
  readonly standby: DatabaseServer | undefined;
  /** Makes the standby the primary. Resolves when it takes writes. */
  promote(): Promise<void>;
  close(): Promise<void>;
}

const READY_MS = 30_000;
const SUPERUSER = 'postgres';

/** The address of a database on one server or several, for the superuser, whom loopback lets in. */
export function addressOf(ports: readonly number[], database: string): string {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
  const query = ports.length > 1 ? '&target_session_attrs=read-write' : '';
  return `postgres://${SUPERUSER}@${hosts}/${database}?sslmode=disable${query}`;
}

/**
 * Starts a server, or two: the standby is a copy of the primary's folder, so that no base backup is needed.
 */
export async function startServers({ standby: isPair = false } = {}): Promise<Servers> {
  const user = await engineUser();
  const launcher = await makeLauncher(user);
  const home = await claimHome(user);
  const running: DatabaseServer[] = [];
  const close = async () => {
    await Promise.all(running.map((server) => server.kill()));
    await home.release();
  };
  try {
    const binaries = await findBinaries(launcher, home.engine);
    const [data, copy] = [join(home.engine, 'one'), join(home.engine, 'other')];
    await makeEmptyDatabase(launcher, binaries, data);
    const hba = 'host all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n';
    await writeFile(join(data, 'pg_hba.conf'), hba);
    if (isPair) {
      await cp(data, copy, { recursive: true, preserveTimestamps: true });
      await writeFile(join(copy, 'standby.signal'), '');
      if (user !== undefined) handOver(copy, user);
    }
    const start = async (folder: string, settings: Readonly<Record<string, string>>) => {
      const port = await freePort();
      const all = { ...SETTINGS, ...settings, port: String(port), unix_socket_directories: home.engine };
      const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      const spawn = () => launcher.start(binaries.postgres, ['-D', folder, ...options]);
      const server = await serve(port, spawn);
      running.push(server);
      return server;
    };
    const primary = await start(data, isPair ? { synchronous_standby_names: '*' } : {});
    if (!isPair) return { primary, standby: undefined, promote: async () => undefined, close };
    const follows = `host=127.0.0.1 port=${primary.port} user=${SUPERUSER}`;
    const standby = await start(copy, { primary_conninfo: follows });
    const isInStep = "select 1 from pg_stat_replication where sync_state = 'sync'";
    await until(async () => (await primary.query(isInStep)).length === 1);
    const promote = async () => {
      await standby.query('select pg_promote(true, 30)');
      await until(
        async () => (await standby.query('select pg_is_in_recovery() as still'))[0]?.['still'] === false,
      );
    };
    return { primary, standby, promote, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** Waits for a condition. Rejects when it does not come true. */
export async function until(condition: () => Promise<boolean> | boolean, limitMs = READY_MS): Promise<void> {
  for (const began = performance.now(); !(await condition()); ) {
    if (performance.now() - began > limitMs) throw new Error(`it did not come true in ${limitMs} ms`);
    await pause(15);
  }
}

async function serve(port: number, spawn: () => ChildProcess): Promise<DatabaseServer> {
  let child: ChildProcess;
  let gone: Promise<unknown>;
  const query = (sql: string) => ask(port, sql);
  const start = async () => {
    child = spawn();
    let [said, isGone] = ['', false];
    child.stdout?.resume();
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(-4_000);
    });
    gone = exitOf(child).finally(() => {
      isGone = true;
    });
    const answers = () => query('select 1').then(Boolean, () => false);
    await until(async () => isGone || (await answers()));
    if (isGone) throw new Error(`postgres does not come up: ${said}`);
  };
  // An immediate shutdown writes nothing more, waits for nobody and leaves no orphans.
  const kill = async () => {
    child.kill('SIGQUIT');
    await gone;
  };
  const restart = async () => {
    await kill();
    await start();
  };
  await start();
  return { port, query, restart, kill };
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  wal_level: 'replica',
  hot_standby: 'on',
  wal_keep_size: '64MB',
  min_wal_size: '5MB',
  max_wal_size: '64MB',
  shared_buffers: '16MB',
  max_connections: '400',
  autovacuum_max_workers: '1',
  jit: 'off',
  dynamic_shared_memory_type: 'mmap',
  // Nobody cuts the power here: what a killed server has written is there.
  fsync: 'off',
  wal_receiver_status_interval: '1s',
  wal_retrieve_retry_interval: '200ms',
};

function handOver(folder: string, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  for (const path of [folder, ...names.map((name) => join(folder, name))]) chownSync(path, uid, gid);
}

/** A port of loopback that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Runs statements as the superuser; gives the rows of the last one. */
export async function ask(port: number, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ host: '127.0.0.1', port, user: SUPERUSER, database: 'postgres' });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const result = await client.query(sql);
    return (Array.isArray(result) ? result.at(-1) : result)?.rows ?? [];
  } finally {
    await client.end().catch(() => undefined);
  }
}
