import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { type Binaries, findBinaries } from '../../../src/lab/engine/binaries.ts';
import { configFile, writeConfig } from '../../../src/lab/engine/config.ts';
import { engineUser, type Launcher, makeLauncher } from '../../../src/lab/engine/launcher.ts';
import { type PostgresProcess, startPostgres } from '../../../src/lab/engine/postgres-process.ts';
import { claimHome } from '../../../src/lab/home.ts';
import { makeEmptyDatabase } from '../../bench-kit/empty-database.ts';
import { freePort } from '../../team/servers.ts';

export interface ClusterOptions {
  /** On where a test kills the server or measures; default off. */
  readonly fsync?: boolean;
  /** Names and values of `postgresql.conf`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Lines of `pg_hba.conf` before those that let this user in as the superuser. */
  readonly hba?: readonly string[];
}

/**
 * A PostgreSQL from the npm registry for tests: on a socket that only this user reaches, and on 127.0.0.1.
 */
export interface Cluster {
  readonly folder: string;
  readonly port: number;
  /** The address of a database as the superuser, over the socket. */
  address(database: string): string;
  /** Makes an empty database and gives its name. */
  makeDatabase(): Promise<string>;
  /** As the superuser; the rows of the last statement. */
  query<Row extends object>(sql: string, database?: string, values?: readonly unknown[]): Promise<Row[]>;
  /** SIGQUIT to the server, as `pg_ctl stop -m immediate`: it recovers from its log at the next start. */
  crash(): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
  readonly pid: number;
  remove(): Promise<void>;
}

/** What a cluster is made with; several of one test share the folder and the binaries. */
export interface Place {
  readonly launcher: Launcher;
  readonly binaries: Binaries;
  readonly folder: string;
  remove(): Promise<void>;
}

async function claimPlace(): Promise<Place> {
  const launcher = await makeLauncher(await engineUser());
  const home = await claimHome(launcher.user);
  const binaries = await findBinaries(launcher, home.engine);
  return { launcher, binaries, folder: home.engine, remove: home.release };
}

/** A new cluster with an empty data folder; `remove` takes its place away, too. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const place = await claimPlace();
  const folder = join(place.folder, 'a');
  try {
    await makeFolder(place, folder);
    await makeEmptyDatabase(place.launcher, place.binaries, join(folder, 'data'));
    return await runCluster(place, folder, options, place.remove);
  } catch (error) {
    await place.remove();
    throw error;
  }
}

/** A cluster on the data folder `data` inside `folder`. */
async function runCluster(
  { launcher, binaries }: Place,
  folder: string,
  { fsync = false, settings = {}, hba = [] }: ClusterOptions,
  removePlace: () => Promise<void>,
): Promise<Cluster> {
  const port = await freePort();
  const { signal } = new AbortController();
  let running: PostgresProcess | undefined;
  let databases = 0;
  const query = async <Row extends object>(
    sql: string,
    database = 'postgres',
    values?: readonly unknown[],
  ) => {
    const client = new Client({ host: folder, port, user: 'postgres', database });
    await client.connect();
    try {
      const result = await client.query<Row>(sql, values && [...values]);
      return (Array.isArray(result) ? result.at(-1) : result).rows;
    } finally {
      await client.end();
    }
  };
  const start = async () => {
    await writeConfig(folder, {
      major: binaries.major,
      fsync,
      settings: {
        port: String(port),
        listen_addresses: '127.0.0.1',
        max_connections: '300',
        shared_buffers: '64MB',
        hba_file: join(folder, 'own-hba.conf'),
        ...settings,
      },
    });
    await writeFile(
      join(folder, 'own-hba.conf'),
      [
        ...hba,
        'local all postgres peer map=lab',
        'local replication postgres peer map=lab',
        'host all all 127.0.0.1/32 scram-sha-256',
        '',
      ].join('\n'),
      { mode: 0o644 },
    );
    const files = { data: join(folder, 'data'), configFile: configFile(folder), signal };
    running = await startPostgres(launcher, binaries.postgres, files);
  };
  await start();
  return {
    folder,
    port,
    get pid() {
      return running?.pid ?? 0;
    },
    address: (database) => `postgres://postgres@/${database}?host=${encodeURIComponent(folder)}&port=${port}`,
    async makeDatabase() {
      databases += 1;
      const name = `t${process.pid}_${databases}`;
      await query(`create database ${name}`);
      return name;
    },
    query,
    async crash() {
      const before = running;
      if (before === undefined) return;
      process.kill(before.pid, 'SIGQUIT');
      await gone(before);
    },
    stop: async () => await running?.stop(),
    start,
    async remove() {
      await running?.stop();
      await removePlace();
    },
  };
}

async function makeFolder({ launcher: { user } }: Place, folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  if (user !== undefined) await chown(folder, user.uid, user.gid);
}

async function gone(server: PostgresProcess): Promise<void> {
  while (server.running) await new Promise(setImmediate);
}
