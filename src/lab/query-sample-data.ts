import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import * as z from 'zod';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';

const FILE = 'sockets.json';
/** Instance names and their servers' socket folders. */
const Sockets = z.record(z.string(), z.string());

/** Writes to the lab's folder where its databases are, for other processes. It holds no secret. */
export async function writeSockets(folder: string, sockets: z.infer<typeof Sockets>): Promise<void> {
  await writeFile(join(folder, FILE), JSON.stringify(sockets), { mode: 0o600 });
}

/**
 * Only reads: a running lab's newest order and order count, for any process of its user: `0` without data,
 * else `2026-08-20T14:32:00.123Z 124`. Rejects with `lab.folder`, `lab.instance`, `lab.down` (database down).
 */
export async function querySampleData(folder: string, instance: string): Promise<string> {
  const host = await socketOf(folder, instance);
  // The server asks the kernel who connects: no password. Every database has the read-only role.
  const limits = { connectionTimeoutMillis: PATIENCE_MS, query_timeout: PATIENCE_MS };
  const client = new Client({
    host,
    user: 'postgres',
    database: 'postgres',
    options: '-c role=pg_read_all_data',
    ...limits,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ newest: Date | null; count: string }>(
      'select max(created_at) as newest, count(*) as count from orders',
    );
    const { newest, count } = rows[0] ?? { newest: null, count: '0' };
    return newest === null ? count : `${newest.toISOString()} ${count}`;
  } catch (cause) {
    // A target that nothing was recovered into yet.
    if ((cause as { readonly code?: unknown }).code === UNDEFINED_TABLE) return '0';
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new LifeboatError('lab.down', `the database of ${show(instance, 60)} cannot be read`, {
      hints: ['wait until the instance is no longer lost or being restored, then try again'],
      evidence: { error: show(why, 200) },
      cause,
    });
  } finally {
    await client.end().catch(() => undefined);
  }
}

const PATIENCE_MS = 10_000;
const UNDEFINED_TABLE = '42P01';

async function socketOf(folder: string, instance: string): Promise<string> {
  const text = await readFile(join(folder, FILE), 'utf8').catch((cause: unknown) => {
    throw new LifeboatError('lab.folder', `no lab runs with the folder ${show(folder)}`, {
      hints: ['the lab prints its folder when it starts; the folder is gone when the lab ends'],
      exitCode: EXIT.usage,
      cause,
    });
  });
  const host = Sockets.parse(JSON.parse(text))[instance];
  if (host !== undefined) return host;
  throw new LifeboatError('lab.instance', `the lab has no instance ${show(instance, 60)}`, {
    exitCode: EXIT.usage,
  });
}
