import { join } from 'node:path';
import { Client, Pool } from 'pg';
import { LifeboatError } from '../../base/errors.ts';
import { takeBaseBackup } from './base-backup.ts';
import { writeOpenAccess } from './config.ts';
import type { Query, Server } from './engine.ts';
import { postgresError } from './launcher.ts';
import type { PostgresProcess } from './postgres-process.ts';

/**
 * A process that is ready, with connections to it. Rejects with `lab.postgres` when it does not answer, and
 * is stopped then.
 */
export async function openServer(folder: string, process: PostgresProcess): Promise<Server> {
  const pool = new Pool({ ...superuser(folder), max: 4 });
  // Connections break when the server stops; the next query says so.
  pool.on('error', () => undefined);
  // A pool that ends forgets who waits for a connection; they are rejected here.
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
  // Together: the pool waits for its queries, and a query that hangs ends with the server.
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
      // A process of the server knows the configuration it was born with: only a new one tells of the new
      // one.
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

/** What a query gets while there is no server. */
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
