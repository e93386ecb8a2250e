import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode, LifeboatError } from './errors.ts';
import { show } from './text.ts';

/*
 * Node's recursive mkdir never returns if a file system answers ENOENT below an existing folder, as /proc
 * does. A user may name such a path, so folders are made one by one.
 */

/**
 * Creates a folder, and those above it, for its owner only. An existing folder keeps its mode. Throws
 * `file.failed` if the file system takes no folders, otherwise the system's error.
 */
export function makePrivateFolder(path: string): void {
  const isThere = () => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isThere()) return;
  if (statSync(dirname(path), { throwIfNoEntry: false }) === undefined) makePrivateFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (thrown) {
    if (!isThere()) throw notMade(path, thrown);
  }
}

/**
 * As `makePrivateFolder`, without blocking and with the umask's mode. Returns the first folder it created.
 */
export async function makeSharedFolder(path: string): Promise<string | undefined> {
  const found = (at: string) => stat(at).catch(() => undefined);
  const isThere = async () => (await found(path))?.isDirectory() === true;
  if (await isThere()) return undefined;
  const above = dirname(path);
  const first = (await found(above)) === undefined ? await makeSharedFolder(above) : undefined;
  try {
    await mkdir(path);
    return first ?? path;
  } catch (thrown) {
    if (await isThere()) return first;
    throw notMade(path, thrown);
  }
}

function notMade(path: string, cause: unknown): unknown {
  if (errorCode(cause) !== 'ENOENT') return cause;
  const why = 'its file system takes no folders';
  return new LifeboatError('file.failed', `the folder ${show(path, 120)} cannot be made: ${why}`, {
    hints: ['nothing was written there', 'name a folder on a disk'],
    cause,
  });
}

/** Creates an empty private file if there is none, durably, and removes the permissions of others. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
  syncFolder(dirname(path));
}

/** Makes the names inside a folder durable: a new or renamed file survives a power cut only after this. */
export function syncFolder(path: string): void {
  // Windows has no fsync for folders; its rename is durable by itself.
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
