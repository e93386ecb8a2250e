import { chmod, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { Client, Pool } from 'pg';
import { LifeboatError } from '../../base/errors.ts';
import { takeBaseBackup } from './base-backup.ts';
import type { Query, Server, Settings } from './engine.ts';
import { postgresError } from './launcher.ts';
import type { PostgresProcess } from './postgres-process.ts';

/** Connections to a ready process; stops it and throws `lab.postgres` if it does not answer. */
export async function openServer(folder: string, process: PostgresProcess): Promise<Server> {
  const pool = new Pool({ ...superuser(folder), max: 4 });
  // Connections break when the server stops; the next query says so.
  pool.on('error', () => undefined);
  // A pool that ends forgets its waiting callers; they are rejected here.
  const waiting = new Set<(reason: LifeboatError) => void>();
  const query: Query = async <Row extends object>(sql: string, parameters?: readonly unknown[]) => {
    const gone = Promise.withResolvers<never>();
    waiting.add(gone.reject);
    try {
      const asked = pool.query<Row>(sql, parameters === undefined ? undefined : [...parameters]);
      const result = await Promise.race([asked, gone.promise]);
      return (Array.isArray(result) ? result.at(-1) : result)?.rows ?? [];
    } finally {
      waiting.delete(gone.reject);
    }
  };
  // In parallel: the pool waits for its queries, and a query that hangs ends with the server.
  const ending = async (end: () => Promise<void>) => {
    await Promise.all([pool.end().catch(() => undefined), end()]);
    for (const reject of waiting) reject(databaseDown());
  };
  const server: Server = {
    pid: process.pid,
    get running() {
      return process.running;
    },
    query,
    baseBackup: (label) => takeBaseBackup(join(folder, '.s.PGSQL.5432'), label),
    admit: async () => {
      const before = await configLoadedAt(folder);
      await writeOpenAccess(folder);
      await query('select pg_reload_conf()');
      // A server process keeps its configuration: only a new connection shows the new one.
      while ((await configLoadedAt(folder)) === before);
    },
    stop: () => ending(process.stop),
    kill: () => ending(process.kill),
  };
  try {
    await query('select 1');
    return server;
  } catch (error) {
    await server.stop();
    throw postgresError('it does not answer', [String(error)], error);
  }
}

export function databaseDown(): LifeboatError {
  return new LifeboatError('lab.down', 'the database is down', {
    hints: ['start the instance, or wait until its restore is over'],
  });
}

async function configLoadedAt(folder: string): Promise<string> {
  const client = new Client(superuser(folder));
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ at: string }>('select pg_conf_load_time()::text as at');
    return rows[0]?.at ?? '';
  } finally {
    await client.end().catch(() => undefined);
  }
}

function superuser(folder: string) {
  return { host: folder, user: 'postgres', database: 'postgres' } as const;
}

export function configFile(folder: string): string {
  return join(folder, 'postgresql.conf');
}

/**
 * Writes the server's whole configuration outside its data folder: a restored cluster brings its source's
 * files, including the archive settings, and must not use them. Only this process's own user gets in, as the
 * superuser: the kernel says who connects (PostgreSQL documentation, "Peer Authentication").
 */
export async function writeConfig(
  folder: string,
  options: { readonly major: number; readonly fsync: boolean; readonly settings: Settings },
): Promise<void> {
  const settings: Settings = {
    listen_addresses: '',
    unix_socket_directories: folder,
    unix_socket_permissions: '0700',
    hba_file: hbaFile(folder),
    ident_file: identFile(folder),
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    fsync: options.fsync ? 'on' : 'off',
    wal_level: 'replica',
    max_wal_senders: '6',
    // A backup streams its own log at the end, so log written during it must still exist.
    wal_keep_size: '64MB',
    // At least twice the segment size, or the server refuses to start.
    min_wal_size: '5MB',
    max_wal_size: '64MB',
    shared_buffers: '16MB',
    max_connections: '20',
    autovacuum_max_workers: '1',
    jit: 'off',
    // A killed server leaves its shared memory behind: keep it in its own folder, which is deleted.
    dynamic_shared_memory_type: 'mmap',
    // A statement may hold a password.
    log_min_error_statement: 'panic',
    ...(options.major >= 18 ? { io_method: 'sync' } : {}),
    ...options.settings,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`);
  await writeReadable(configFile(folder), `${lines.join('\n')}\n`);
  await writeReadable(hbaFile(folder), SUPERUSER);
  await writeReadable(identFile(folder), `${MAP} "${userInfo().username.replaceAll('"', '""')}" postgres\n`);
}

/** Admits all others by password, once the server has reloaded. */
async function writeOpenAccess(folder: string): Promise<void> {
  await writeReadable(hbaFile(folder), `${SUPERUSER}local all all scram-sha-256\n`);
}

/** Readable for the server, which may run as another user, whatever the umask. */
async function writeReadable(path: string, text: string): Promise<void> {
  await writeFile(path, text);
  await chmod(path, 0o644);
}

const MAP = 'lab';

/*
 * A closed socket folder is not enough: if root starts the lab, the folder belongs to a user as whom other
 * services may run.
 */
const SUPERUSER = `local all postgres peer map=${MAP}\nlocal replication postgres peer map=${MAP}\n`;

function hbaFile(folder: string): string {
  return join(folder, 'hba.conf');
}

function identFile(folder: string): string {
  return join(folder, 'ident.conf');
}
