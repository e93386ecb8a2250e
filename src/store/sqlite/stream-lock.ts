import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { LifeboatError, troubleWith } from '../../base/errors.ts';
import { type FileLock, NotALock, tryLock } from '../../base/file-lock.ts';
import { show } from '../../base/text.ts';
import { makePrivateFolder } from '../folders.ts';
import type { StreamName } from '../journal.ts';
import { checkStreamName } from '../new-entry.ts';
import { identity } from './file-watch.ts';
import { lockOf, readHolder, writeHolder } from './holders.ts';

/** The kernel's lock of a stream. */
export interface StreamLock {
  /** Whether the lock file is still the one that is locked: somebody may have deleted or replaced it. */
  isWhole(): boolean;
  isHeld(): boolean;
  /** Does nothing the second time. */
  release(): void;
}

/**
 * Takes the exclusive right to write a stream (`tryLock`). Never waits. Throws `journal.held` with who holds
 * it, since when.
 */
export function lockStream(home: string, stream: StreamName, since: Date): StreamLock {
  checkStreamName(stream);
  const base = lockOf(home, stream);
  const lock = lockFile(`${base}.db`, stream, `${base}.json`);
  writeHolder(`${base}.json`, since);
  const first = identity(`${base}.db`);
  let isHeld = true;
  return {
    isWhole: () => identity(`${base}.db`) === first,
    isHeld: () => isHeld,
    release() {
      if (!isHeld) return;
      isHeld = false;
      try {
        // Of a file that was replaced the note is somebody else's.
        if (identity(`${base}.db`) === first) rmSync(`${base}.json`, { force: true });
      } catch {
        // A note that stays behind names a process that is gone.
      }
      lock.release();
    },
  };
}

function lockFile(path: string, stream: StreamName, infoPath: string): FileLock {
  try {
    makePrivateFolder(dirname(path));
    const lock = tryLock(path);
    if (lock !== undefined) return lock;
  } catch (error) {
    if (error instanceof LifeboatError) throw error;
    if (error instanceof NotALock)
      throw new LifeboatError('journal.lock', `${show(path)} is not a lock file`, {
        hints: ['nothing was written', 'when no lifeboat is running, move it away: a new one is created'],
        cause: error,
      });
    const { why, advice } = troubleWith(path, error);
    throw new LifeboatError('journal.lost', `the lock of ${stream} cannot be taken: ${why}`, {
      hints: [`${advice}: it lies below LIFEBOAT_HOME`],
      evidence: {
        error: error instanceof Error ? error.message : String(error),
      },
      cause: error,
    });
  }
  throw heldBy(stream, infoPath);
}

function heldBy(stream: StreamName, infoPath: string): LifeboatError {
  const hints = [
    'it is free as soon as that process ends; a lock of a dead process does not exist',
    'do not delete lock files: two writers would follow',
  ];
  const holder = readHolder(infoPath);
  if (holder === undefined)
    return new LifeboatError('journal.held', `${stream} is held by another process`, { hints });
  const { pid, host, since, command } = holder;
  const who = pid === process.pid ? 'this process itself' : `process ${pid} on ${show(host, 60)}`;
  return new LifeboatError('journal.held', `${stream} is held by ${who} since ${show(since, 30)}`, {
    hints,
    evidence: { pid, host, since, command },
  });
}
