import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { LifeboatError, troubleWith } from '../errors.ts';
import { show } from '../text.ts';

const PATIENCE_MS = 30_000;
const LOOK_AGAIN_MS = 20;
const SQLITE_BUSY = 5;
const SQLITE_NOTADB = 26;

/**
 * Runs `work` while no other process, and no other call in this one, holds the lock at `path`. The lock is an exclusive
 * SQLite transaction on an empty file, so the kernel frees it when the process dies and nothing stale is left behind.
 * Waits up to `patienceMs` (default 30 s), then rejects with `keys.busy`; a lock that cannot be made rejects with `keys.io`,
 * and something else in its place with `keys.lock`.
 */
export async function withLock<T>(
  path: string,
  work: () => Promise<T>,
  patienceMs: number = PATIENCE_MS,
): Promise<T> {
  const lock = await take(path, patienceMs);
  try {
    return await work();
  } finally {
    lock.close();
  }
}

async function take(path: string, patienceMs: number): Promise<DatabaseSync> {
  const giveUpAt = performance.now() + patienceMs;
  const database = await openLockFile(path);
  for (;;) {
    if (tryBegin(database, path)) return database;
    if (performance.now() > giveUpAt) {
      database.close();
      throw new LifeboatError(
        'keys.busy',
        `another lifeboat process is writing keys: ${show(path)} is locked`,
        {
          hints: ['nothing was written', 'wait for the other process to end, then try again'],
        },
      );
    }
    await delay(LOOK_AGAIN_MS);
  }
}

async function openLockFile(path: string): Promise<DatabaseSync> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile() === false) throw notALock(path);
    // SQLite's own busy handler would sleep in the only thread, so it is off and the wait is ours.
    return new DatabaseSync(path, { timeout: 0 });
  } catch (cause) {
    if (cause instanceof LifeboatError) throw cause;
    throw lockError(path, cause);
  }
}

function tryBegin(database: DatabaseSync, path: string): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (cause) {
    if (cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_BUSY) return false;
    database.close();
    if (cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_NOTADB)
      throw notALock(path, cause);
    throw lockError(path, cause);
  }
}

function notALock(path: string, cause?: unknown): LifeboatError {
  return new LifeboatError('keys.lock', `${show(path)} is not a lock file`, {
    hints: ['nothing was written', 'with no lifeboat running, move it away: it is made anew'],
    cause,
  });
}

function lockError(path: string, cause: unknown): LifeboatError {
  const { why, advice } = troubleWith(path, cause);
  return new LifeboatError('keys.io', `cannot lock ${show(path, 120)}: ${why}`, {
    hints: ['nothing was written', advice],
    evidence: {
      error: show(cause instanceof Error ? cause.message : String(cause)),
    },
    cause,
  });
}
