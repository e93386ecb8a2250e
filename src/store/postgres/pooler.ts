import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from 'pg';
import { pooled } from './trouble.ts';

/** How long what a pooler answers is waited for. Milliseconds. */
export const PROBE_MS = 2_000;

/** Which process of the server has said at the start that it answers here. */
export function processOf(client: Client): number | undefined {
  return (client as Client & { readonly processID?: number }).processID;
}

/**
 * For a connection that another process of the server answers than has said so: a pooler stands between. One
 * that gives each transaction another connection takes locks and prepared statements away from who made them:
 * then the process of this connection, `pid`, also serves a second one that is in a transaction, or this one
 * gets another. Rejects with `journal.pooled` then. The second connection, `other`, is ended.
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
    // It has no second connection to give, and a store takes several.
  } finally {
    other.connection.stream.destroy();
  }
  throw pooled();
}

async function processNow(one: Client): Promise<number | undefined> {
  const { rows } = await one.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' });
  return rows[0]?.pid;
}
