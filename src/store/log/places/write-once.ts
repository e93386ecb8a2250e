import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, link, open, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../../../base/errors.ts';
import { syncFolder } from '../../folders.ts';

/*
 * A file is made whole under a name of its own and then linked to its name, which link(2) refuses where
 * something has it. Where the file system has no links it is written in its place, and a power cut may leave
 * a part of it, which no reader takes for a checkpoint.
 */

/**
 * Makes a file where none is, durably; false where something is already. Quick, for a local disk: waits for
 * it.
 */
export function writeOnceSync(path: string, text: string, mode: number): boolean {
  const whole = besideOf(path);
  writeNewSync(whole, text, mode);
  try {
    linkSync(whole, path);
  } catch (thrown) {
    if (errorCode(thrown) === 'EEXIST') return false;
    if (!isWithoutLinks(thrown)) throw thrown;
    if (!writeNewSync(path, text, mode)) return false;
  } finally {
    unlinkSync(whole);
  }
  syncFolder(dirname(path));
  return true;
}

/** The same for a folder that may never answer: nothing else waits for it. */
export async function writeOnce(path: string, text: string, mode: number): Promise<boolean> {
  const whole = besideOf(path);
  await writeNew(whole, text, mode);
  try {
    await link(whole, path);
  } catch (thrown) {
    if (errorCode(thrown) === 'EEXIST') return false;
    if (!isWithoutLinks(thrown)) throw thrown;
    if (!(await writeNew(path, text, mode))) return false;
  } finally {
    await unlink(whole);
  }
  await sync(dirname(path));
  return true;
}

/** Makes the names inside a folder durable. Windows has no fsync for folders. */
export async function sync(folder: string): Promise<void> {
  if (process.platform !== 'win32') await withHandle(folder, constants.O_RDONLY, (handle) => handle.sync());
}

export async function withHandle(
  path: string,
  flags: number,
  act: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  const handle = await open(path, flags);
  try {
    await act(handle);
  } finally {
    await handle.close();
  }
}

/** What link(2) says on file systems without hard links. */
const WITHOUT_LINKS: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL']);

function isWithoutLinks(thrown: unknown): boolean {
  return WITHOUT_LINKS.has(errorCode(thrown));
}

/** No reader takes it for a checkpoint. */
function besideOf(path: string): string {
  const unique = `${process.pid}.${randomBytes(4).toString('hex')}`;
  return join(dirname(path), `.${basename(path)}.${unique}.tmp`);
}

function writeNewSync(path: string, text: string, mode: number): boolean {
  let file: number;
  try {
    file = openSync(path, 'wx', mode);
  } catch (thrown) {
    if (errorCode(thrown) === 'EEXIST') return false;
    throw thrown;
  }
  try {
    fchmodSync(file, mode);
    writeFileSync(file, text);
    fsyncSync(file);
    return true;
  } finally {
    closeSync(file);
  }
}

async function writeNew(path: string, text: string, mode: number): Promise<boolean> {
  let handle: FileHandle;
  try {
    handle = await open(path, 'wx', mode);
  } catch (thrown) {
    if (errorCode(thrown) === 'EEXIST') return false;
    throw thrown;
  }
  try {
    await handle.chmod(mode);
    await handle.writeFile(text);
    await handle.sync();
    return true;
  } finally {
    await handle.close();
  }
}
