import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LifeboatError, troubleWith } from '../base/errors.ts';
import { type FileLock, NotALock, tryLock } from '../base/file-lock.ts';
import { makePrivateFolder } from '../base/folders.ts';
import { show } from '../base/text.ts';

const PATIENCE_MS = 30_000;
const LOOK_AGAIN_MS = 20;

/**
 * Runs `work` while no other process or call holds the lock at `path` (`tryLock`). Waits up to `patienceMs`
 * (default 30 s), then rejects with `keys.busy`; with `keys.io` if the lock cannot be created, and
 * `keys.lock` if something else has its place.
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
    lock.release();
  }
}

async function take(path: string, patienceMs: number): Promise<FileLock> {
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    const lock = await attempt(path);
    if (lock !== undefined) return lock;
    if (performance.now() > giveUpAt) {
      throw new LifeboatError(
        'keys.busy',
        `another lifeboat process is writing keys: ${show(path)} is locked`,
        { hints: ['nothing was written', 'wait for the other process to end, then try again'] },
      );
    }
    await delay(LOOK_AGAIN_MS);
  }
}

async function attempt(path: string): Promise<FileLock | undefined> {
  try {
    makePrivateFolder(dirname(path));
    return tryLock(path);
  } catch (cause) {
    if (!(cause instanceof NotALock)) throw cause instanceof LifeboatError ? cause : lockError(path, cause);
    throw new LifeboatError('keys.lock', `${show(path)} is not a lock file`, {
      hints: ['nothing was written', 'when no lifeboat is running, move it away: a new one is created'],
      cause,
    });
  }
}

function lockError(path: string, cause: unknown): LifeboatError {
  const { why, advice } = troubleWith(path, cause);
  return new LifeboatError('keys.io', `cannot lock ${show(path, 120)}: ${why}`, {
    hints: ['nothing was written', advice],
    evidence: { error: show(cause instanceof Error ? cause.message : String(cause)) },
    cause,
  });
}
