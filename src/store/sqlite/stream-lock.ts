import { chmodSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { LifeboatError, troubleWith } from '../../errors.ts';
import { show } from '../../text.ts';
import { makePrivateFolder } from '../folders.ts';
import type { StreamName } from '../journal.ts';
import { checkStreamName } from '../new-entry.ts';
import { SQLITE_BUSY, SQLITE_NOTADB, sqliteCode } from './errors.ts';
import { identity } from './file-watch.ts';
import { locksFolder, readHolder, writeHolder } from './holders.ts';

/** A lock whose owner nobody references must not be closed by the garbage collector: that would free it. */
const held = new Set<DatabaseSync>();

/** The kernel's lock of a stream. */
export interface StreamLock {
  /** Whether the lock file is still the one that is locked: somebody may have deleted or replaced it. */
  isWhole(): boolean;
  isHeld(): boolean;
  /** Does nothing the second time. */
  release(): void;
}

/**
 * Takes the exclusive right to write a stream: an EXCLUSIVE SQLite transaction on a file of its own, which the kernel
 * ends when the process dies, however it dies. Never waits. Throws `journal.held` with who holds it, since when.
 */
export function lockStream(home: string, stream: StreamName, since: Date): StreamLock {
  checkStreamName(stream);
  const base = join(locksFolder(home), `${stream.replace('/', '-')}.lock`);
  const lock = lockFile(`${base}.db`, stream, `${base}.json`);
  held.add(lock);
  writeHolder(`${base}.json`, since);
  const first = identity(`${base}.db`);
  return {
    isWhole: () => identity(`${base}.db`) === first,
    isHeld: () => held.has(lock),
    release() {
      if (!held.delete(lock)) return;
      try {
        // Of a file that was replaced the note is somebody else's.
        if (identity(`${base}.db`) === first) rmSync(`${base}.json`, { force: true });
      } catch {
        // A note that stays behind names a process that is gone.
      }
      lock.close();
    },
  };
}

/*
 * The lock file is only ever opened by SQLite: on POSIX systems, closing any descriptor of a file drops all locks that
 * the process has on it. It is never deleted either: a second process could then lock a new file of the same name.
 */
function lockFile(path: string, stream: StreamName, infoPath: string): DatabaseSync {
  let lock: DatabaseSync | undefined;
  try {
    makePrivateFolder(dirname(path));
    if (isOther(path)) throw notALock(path);
    lock = new DatabaseSync(path, { timeout: 0 });
    lock.exec('BEGIN EXCLUSIVE');
    chmodSync(path, 0o600);
    return lock;
  } catch (error) {
    lock?.close();
    if (error instanceof LifeboatError) throw error;
    if (sqliteCode(error) === SQLITE_NOTADB) throw notALock(path, error);
    if (sqliteCode(error) === SQLITE_BUSY) throw heldBy(stream, infoPath);
    const { why, advice } = troubleWith(path, error);
    throw new LifeboatError('journal.lost', `the lock of ${stream} cannot be taken: ${why}`, {
      hints: [`${advice}: it lies below LIFEBOAT_HOME`],
      evidence: {
        error: error instanceof Error ? error.message : String(error),
      },
      cause: error,
    });
  }
}

/** Whether something else than a plain file is there: a pipe would keep SQLite waiting. */
function isOther(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === false;
}

function notALock(path: string, cause?: unknown): LifeboatError {
  return new LifeboatError('journal.lock', `${show(path)} is not a lock file`, {
    hints: ['nothing was written', 'with no lifeboat running, move it away: it is made anew'],
    cause,
  });
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
