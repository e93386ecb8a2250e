import { chmodSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** An exclusive right, which the kernel also frees when the process dies in any way. */
export interface FileLock {
  /** Does nothing the second time. */
  release(): void;
}

export class NotALock extends Error {}

const SQLITE_BUSY = 5;
const SQLITE_NOTADB = 26;

/** Keeps the garbage collector from closing the database of a leaked lock, which would free it. */
const held = new Set<DatabaseSync>();

/**
 * Takes the lock at `path`, whose folder must exist; undefined if another process, or another part of this
 * one, has it. Never waits. Throws `NotALock`, or the system's error about the file.
 *
 * The lock is an EXCLUSIVE SQLite transaction on an empty file. Only SQLite may open that file: on POSIX
 * systems, closing any descriptor of a file drops all locks that the process has on it. It is never deleted:
 * a second process could then lock a new file of the same name.
 */
export function tryLock(path: string): FileLock | undefined {
  // Opening a pipe would block SQLite.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw new NotALock(path);
  // SQLite's own busy handler would sleep in the only thread.
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
    chmodSync(path, 0o600);
  } catch (thrown) {
    database.close();
    const code = thrown instanceof Error && 'errcode' in thrown ? thrown.errcode : undefined;
    if (code === SQLITE_BUSY) return undefined;
    throw code === SQLITE_NOTADB ? new NotALock(path, { cause: thrown }) : thrown;
  }
  held.add(database);
  return {
    release() {
      if (held.delete(database)) database.close();
    },
  };
}
