import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from 'pg';
import { pooled } from './trouble.ts';

/** Milliseconds to wait for a pooler's answer. */
export const PROBE_MS = 2_000;

/** The process id that the server stated at the start of the connection. */
export function processOf(client: Client): number | undefined {
  return (client as Client & { readonly processID?: number }).processID;
}

/**
 * Called if the server process that answers is not the one announced at the start: a pooler stands between. A
 * pooler that gives each transaction another connection separates locks and prepared statements from their
 * creator. It is detected when the process of this connection, `pid`, also serves a second one that is in a
 * transaction, or when this connection gets another process. Rejects with `journal.pooled` then. Ends the
 * second connection, `other`.
 */
export async function assertNotPooled(client: Client, other: Client, pid: number): Promise<void> {
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
