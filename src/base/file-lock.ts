import { chmodSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** The right to be the only one. Also freed by the kernel when the process dies, however it dies. */
export interface FileLock {
  /** Does nothing the second time. */
  release(): void;
}

/** Something else than a lock lies where the lock should be. */
export class NotALock extends Error {}

const SQLITE_BUSY = 5;
const SQLITE_NOTADB = 26;

/** A lock whose owner nobody references must not be closed by the garbage collector: that would free it. */
const held = new Set<DatabaseSync>();

/**
 * Takes the lock at `path`, whose folder must be there, or gives undefined when another process, or another
 * part of this one, has it. Never waits. Throws `NotALock`, or what the system says about the file.
 *
 * The lock is an EXCLUSIVE SQLite transaction on an empty file. The file is only ever opened by SQLite: on
 * POSIX systems, closing any descriptor of a file drops all locks that the process has on it. It is never
 * deleted either: a second process could then lock a new file of the same name.
 */
export function tryLock(path: string): FileLock | undefined {
  // A pipe would keep SQLite waiting.
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
