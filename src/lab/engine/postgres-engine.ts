import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Pool } from 'pg';
import { removeFolder } from '../home.ts';
import { takeBaseBackup } from './base-backup.ts';
import { type Binaries, findBinaries } from './binaries.ts';
import type { Database, Engine, Query } from './engine.ts';
import { extractBaseBackup } from './extract.ts';
import { type Launcher, postgresError } from './launcher.ts';
import { type PostgresProcess, startPostgres } from './postgres-process.ts';

export interface PostgresEngineOptions {
  readonly launcher: Launcher;
  /** 0700, owned by the launcher's user; each database gets a folder in it. */
  readonly folder: string;
  /** Off makes tests faster; a crash of the machine may then lose the lab's data. */
  readonly fsync: boolean;
  /** Stops databases that are being made. */
  readonly signal: AbortSignal;
}

/** Real PostgreSQL servers, one per database: unix sockets only, trusted because the folder is closed to others. */
export async function makePostgresEngine(options: PostgresEngineOptions): Promise<Engine> {
  const { launcher, folder } = options;
  const binaries = await findBinaries(launcher, folder);
  const databases = new Set<Database>();
  const launches = new Set<Promise<Database>>();

  const launch = async (name: string, fill: (data: string) => Promise<void>): Promise<Database> => {
    const place = join(folder, name);
    const data = join(place, 'data');
    await mkdir(place, { mode: 0o700 });
    try {
      if (launcher.user !== undefined) await chown(place, launcher.user.uid, launcher.user.gid);
      await fill(data);
      const configFile = await writeConfig(place, binaries, options.fsync);
      options.signal.throwIfAborted();
      const process = await startPostgres(launcher, binaries.postgres, { data, configFile });
      const database = await openDatabase(name, place, process);
      databases.add(database);
      options.signal.throwIfAborted();
      return database;
    } catch (error) {
      await removeFolder(place);
      throw error;
    }
  };

  const tracked = async (launching: Promise<Database>) => {
    launches.add(launching);
    try {
      return await launching;
    } finally {
      launches.delete(launching);
    }
  };
  const initialise = async (data: string) => {
    await launcher.run(binaries.initdb, ['-D', data, ...INITDB], options.signal);
  };
  const extract = (content: Readable) => (data: string) =>
    extractBaseBackup(content, data, launcher.user, options.signal);

  return {
    description: `PostgreSQL ${binaries.version}`,
    create: (name) => tracked(launch(name, initialise)),
    restore: (name, content) => tracked(launch(name, extract(content))),
    close: async () => {
      await Promise.allSettled(launches);
      await Promise.all([...databases].map((database) => database.remove()));
    },
  };
}

/* Segments of 1 MB instead of 16: a backup carries at least one, and the lab's databases are small. */
const INITDB = [
  '--username=postgres',
  '--auth=trust',
  '--encoding=UTF8',
  '--locale=C',
  '--wal-segsize=1',
  '--no-sync',
  '--no-instructions',
];

/**
 * The whole configuration, outside of the data folder: a restored cluster brings the files of its source along, and
 * must not act on them.
 */
async function writeConfig(place: string, binaries: Binaries, fsync: boolean): Promise<string> {
  const hbaFile = join(place, 'hba.conf');
  const settings: Record<string, string> = {
    listen_addresses: '',
    unix_socket_directories: place,
    unix_socket_permissions: '0700',
    hba_file: hbaFile,
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    fsync: fsync ? 'on' : 'off',
    wal_level: 'replica',
    max_wal_senders: '6',
    // A backup streams its own log at the end: what was written meanwhile must still be there.
    wal_keep_size: '64MB',
    // At least twice the segment size, or the server refuses to start.
    min_wal_size: '5MB',
    max_wal_size: '64MB',
    shared_buffers: '16MB',
    max_connections: '20',
    autovacuum_max_workers: '1',
    jit: 'off',
    ...(binaries.major >= 18 ? { io_method: 'sync' } : {}),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`);
  const configFile = join(place, 'postgresql.conf');
  await writeFile(configFile, `${lines.join('\n')}\n`, { mode: 0o644 });
  await writeFile(hbaFile, 'local all all trust\nlocal replication all trust\n', { mode: 0o644 });
  return configFile;
}

async function openDatabase(name: string, place: string, process: PostgresProcess): Promise<Database> {
  const pool = new Pool({ host: place, user: 'postgres', database: 'postgres', max: 4 });
  // Connections break when the server stops; the next query says so.
  pool.on('error', () => undefined);
  const query: Query = async <Row extends object>(sql: string, parameters?: readonly unknown[]) => {
    const result = await pool.query<Row>(sql, parameters === undefined ? undefined : [...parameters]);
    return (Array.isArray(result) ? result.at(-1) : result)?.rows ?? [];
  };
  const stop = async () => {
    await Promise.all([pool.end().catch(() => undefined), process.stop()]);
    await removeFolder(place);
  };
  let stopped: Promise<void> | undefined;
  const database: Database = {
    name,
    pid: process.pid,
    socketFolder: place,
    get running() {
      return process.running;
    },
    query,
    baseBackup: (label) => takeBaseBackup(join(place, '.s.PGSQL.5432'), label),
    remove: () => {
      stopped ??= stop();
      return stopped;
    },
  };
  try {
    await query('select 1');
    return database;
  } catch (error) {
    await database.remove();
    throw postgresError('it does not answer', [String(error)], error);
  }
}
