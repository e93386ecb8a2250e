import type { ChildProcess } from 'node:child_process';
import { cp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { findBinaries } from '../../src/lab/engine/binaries.ts';
import { engineUser, exitOf, makeLauncher } from '../../src/lab/engine/launcher.ts';
import { claimHome } from '../../src/lab/home.ts';

/** One PostgreSQL server on loopback, which can be hurt. */
export interface DatabaseServer {
  readonly port: number;
  /** Immediate shutdown, as `pg_ctl restart -m immediate` does it, and a start: every connection breaks, and the log is replayed. */
  restart(): Promise<void>;
  /** Kills every process of it. It is not started again. */
  kill(): Promise<void>;
}

/** A primary, and a standby that has every commit before the primary says so. */
export interface Pair {
  readonly primary: DatabaseServer;
  readonly standby: DatabaseServer;
  /** Makes the standby the primary. Resolves when it takes writes. */
  promote(): Promise<void>;
  /** Runs statements as the superuser, on the primary. */
  query(sql: string): Promise<readonly Record<string, unknown>[]>;
  close(): Promise<void>;
}

const READY_MS = 30_000;
const SUPERUSER = 'postgres';

/** The address of a database on one server or several, for the superuser, whom loopback lets in. */
export function addressOf(ports: readonly number[], database: string, user = SUPERUSER): string {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
  const query = ports.length > 1 ? '&target_session_attrs=read-write' : '';
  return `postgres://${user}@${hosts}/${database}?sslmode=disable${query}`;
}

/** Starts the pair: the standby is a copy of the primary's folder, which makes no base backup necessary. */
export async function startPair(): Promise<Pair> {
  const user = await engineUser();
  const launcher = await makeLauncher(user);
  const home = await claimHome(user);
  const binaries = await findBinaries(launcher, home.engine);
  const [one, other] = [join(home.engine, 'one'), join(home.engine, 'other')];
  const servers: Awaited<ReturnType<typeof serve>>[] = [];
  const close = async () => {
    await Promise.all(servers.map((server) => server.kill()));
    await home.release();
  };

  async function serve(data: string, settings: Readonly<Record<string, string>>) {
    const port = await freePort();
    const options = Object.entries({
      ...COMMON,
      ...settings,
      port: String(port),
      unix_socket_directories: home.engine,
    });
    let child: ChildProcess;
    let gone: Promise<unknown> = Promise.resolve();
    const start = async () => {
      child = launcher.start(binaries.postgres, [
        '-D',
        data,
        ...options.flatMap(([k, v]) => ['-c', `${k}=${v}`]),
      ]);
      let said = '';
      child.stdout?.resume();
      child.stderr?.setEncoding('utf8').on('data', (text: string) => (said = `${said}${text}`.slice(-4_000)));
      let isGone = false;
      gone = exitOf(child).finally(() => (isGone = true));
      const latest = Date.now() + READY_MS;
      while (!(await answers(port))) {
        if (isGone || Date.now() > latest) throw new Error(`postgres does not come up: ${said}`);
        await pause(20);
      }
    };
    const end = async (signal: NodeJS.Signals) => {
      child.kill(signal);
      await gone;
    };
    await start();
    return {
      port,
      restart: async () => {
        await end('SIGQUIT');
        await start();
      },
      // An immediate shutdown writes nothing more and waits for nobody, and leaves no orphans behind.
      kill: () => end('SIGQUIT'),
    };
  }

  try {
    await launcher.run(binaries.initdb, ['-D', one, ...INITDB]);
    const hba = 'host all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n';
    await writeFile(join(one, 'pg_hba.conf'), hba);
    await cp(one, other, { recursive: true, preserveTimestamps: true });
    await writeFile(join(other, 'standby.signal'), '');
    if (user !== undefined) await launcherOwns(launcher, other);
    const primary = await serve(one, {
      synchronous_standby_names: '*',
      // Nobody waits for a standby before there is one.
      synchronous_commit: 'on',
    });
    servers.push(primary);
    const primaryInfo = `host=127.0.0.1 port=${primary.port} user=${SUPERUSER}`;
    const standby = await serve(other, { primary_conninfo: primaryInfo });
    servers.push(standby);
    const ask = (port: number) => (sql: string) => query(port, sql);
    await until(async () => {
      const rows = await ask(primary.port)("select 1 from pg_stat_replication where sync_state = 'sync'");
      return rows.length === 1;
    });
    const promote = async () => {
      await ask(standby.port)('select pg_promote(true, 30)');
      await until(async () => {
        const [row] = await ask(standby.port)('select pg_is_in_recovery() as still');
        return row?.['still'] === false;
      });
    };
    return { primary, standby, promote, query: ask(primary.port), close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

const COMMON = {
  listen_addresses: '127.0.0.1',
  wal_level: 'replica',
  hot_standby: 'on',
  wal_keep_size: '64MB',
  min_wal_size: '5MB',
  max_wal_size: '64MB',
  shared_buffers: '16MB',
  max_connections: '100',
  autovacuum_max_workers: '1',
  jit: 'off',
  dynamic_shared_memory_type: 'mmap',
  // What a kill of its processes leaves must be there without the disk: nobody cuts the power here.
  fsync: 'off',
  full_page_writes: 'on',
  wal_receiver_status_interval: '1s',
  wal_retrieve_retry_interval: '200ms',
};

const INITDB = [
  `--username=${SUPERUSER}`,
  '--auth=trust',
  '--encoding=UTF8',
  '--locale=C',
  '--wal-segsize=1',
  '--no-sync',
  '--no-instructions',
];

async function launcherOwns(
  launcher: Awaited<ReturnType<typeof makeLauncher>>,
  folder: string,
): Promise<void> {
  const { chownSync, readdirSync } = await import('node:fs');
  const { uid, gid } = launcher.user ?? { uid: 0, gid: 0 };
  chownSync(folder, uid, gid);
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    chownSync(join(folder, name), uid, gid);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function answers(port: number): Promise<boolean> {
  return query(port, 'select 1').then(
    () => true,
    () => false,
  );
}

async function query(port: number, sql: string): Promise<readonly Record<string, unknown>[]> {
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

/** Waits for a condition. Rejects when it does not come true. */
export async function until(condition: () => Promise<boolean> | boolean, limitMs = READY_MS): Promise<void> {
  for (const began = performance.now(); !(await condition()); ) {
    if (performance.now() - began > limitMs) throw new Error(`it did not come true in ${limitMs} ms`);
    await pause(15);
  }
}
