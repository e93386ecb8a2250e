import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { errorCode, FILE_TROUBLE } from './errors.ts';
import { formatBytes } from './format.ts';
import { wasReplaced } from './trusted-path.ts';

/** A pipe in whose other end nobody is gets this long for somebody to come. */
const LONELY_MS = 1_000;
/** A program at the other end may ask somebody for a passphrase first. */
const SILENT_MS = 120_000;
const LOOK_MS = 20;
const CHUNK = 64 * 1024;
/** How often a file is opened that another one is renamed over each time before it is looked at. */
const MAX_OPENS = 3;

/**
 * The bytes of a small file that a person has named: of a plain file, or of a pipe or device such as
 * `/dev/fd/3`. Never more than `most` are read, and the process can always be ended meanwhile: nothing waits
 * inside an open or a read. `check` sees what was opened before anything is read of it.
 *
 * Rejects with an `UnusableFile` when it is larger, a folder, or silent, and with what the system says of
 * everything else (`ENOENT`).
 */
export async function readBounded(
  path: string,
  most: number,
  check?: (stats: Stats) => void,
): Promise<Buffer> {
  return await unlessReplaced(async () => {
    const handle = await open(path, constants.O_RDONLY | NONBLOCK);
    try {
      const stats = await handle.stat();
      check?.(stats);
      return await readHandle(handle, stats, most);
    } finally {
      await handle.close();
    }
  });
}

/**
 * What `read` gives; it opens a file, judges what it opened, and throws what `assertTrusted` does. Where
 * another file was renamed over that one meanwhile, it is called again, a few times: who writes a file anew
 * puts it in place by a rename.
 */
export async function unlessReplaced<Read>(read: () => Promise<Read>): Promise<Read> {
  for (let opens = 1; ; opens += 1) {
    try {
      return await read();
    } catch (thrown) {
      if (opens === MAX_OPENS || !wasReplaced(thrown)) throw thrown;
    }
  }
}

/** The same of something that is open already, without waiting (`O_NONBLOCK`) where it may be a pipe. */
export async function readHandle(handle: FileHandle, stats: Stats, most: number): Promise<Buffer> {
  refuse(stats, most);
  // Of a file whose size is known there is never a second copy in memory; those of /proc have none.
  if (stats.isFile() && stats.size > 0) return await readSized(handle, stats.size);
  const chunks: Buffer[] = [];
  let size = 0;
  for (const began = performance.now(); size <= most; ) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK, most + 1 - size));
    const read = await handle.read(chunk, 0, chunk.length).then(({ bytesRead }) => bytesRead, asSilence);
    if (read !== undefined && read > 0) {
      chunks.push(chunk.subarray(0, read));
      size += read;
      continue;
    }
    const waited = performance.now() - began;
    if (read === 0 && (size > 0 || !stats.isFIFO())) return Buffer.concat(chunks, size);
    if (read === 0 && waited > LONELY_MS) throw new UnusableFile('nobody writes to it');
    if (waited > SILENT_MS) throw new UnusableFile('nothing comes out of it');
    await pause(LOOK_MS);
  }
  throw tooLarge(most);
}

/** What it grows by meanwhile was not there when it was asked for. */
async function readSized(handle: FileHandle, total: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(total);
  let size = 0;
  for (let read = -1; read !== 0 && size < total; size += read)
    read = (await handle.read(bytes, size, total - size, size)).bytesRead;
  return bytes.subarray(0, size);
}

/**
 * The bytes of a plain file of our own. Throws an `UnusableFile` for everything else and for one that is
 * larger. `check` sees what was opened before anything is read of it.
 */
export function readPlainFile(path: string, most: number, check?: (stats: Stats) => void): Buffer {
  for (let opens = 1; ; opens += 1) {
    try {
      return readPlainOnce(path, most, check);
    } catch (thrown) {
      if (opens === MAX_OPENS || !wasReplaced(thrown)) throw thrown;
    }
  }
}

/**
 * Whether a plain file has this name; undefined where nothing has, or it cannot be looked at. It is not
 * opened: who opens a pipe takes what somebody else waits for.
 */
export function isPlainFile(path: string): boolean | undefined {
  try {
    return statSync(path).isFile();
  } catch {
    return undefined;
  }
}

function readPlainOnce(path: string, most: number, check?: (stats: Stats) => void): Buffer {
  const file = openSync(path, constants.O_RDONLY | NONBLOCK);
  try {
    const stats = fstatSync(file);
    check?.(stats);
    refuse(stats, most);
    if (!stats.isFile()) throw new UnusableFile('it is not a plain file');
    // It may grow meanwhile: what is there beyond this was not there when it was asked for.
    const bytes = Buffer.allocUnsafe(stats.size);
    let size = 0;
    for (let read = -1; read !== 0 && size < bytes.length; size += read)
      read = readSync(file, bytes, size, bytes.length - size, size);
    return bytes.subarray(0, size);
  } finally {
    closeSync(file);
  }
}

/**
 * Removes a symbolic link from where a file is about to be written: whoever can put a link into that folder
 * must not choose what is replaced behind it. Throws what the system says of anything but a path at which
 * nothing is.
 */
export function dropLink(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) rmSync(path);
}

/** Something lies there that is no file of this kind. The message says what, as the end of a sentence. */
export class UnusableFile extends Error {}

/** Why a file could not be read, for the end of a message; a code without words stays as it is. */
export function whyUnread(cause: unknown): string {
  if (cause instanceof UnusableFile) return cause.message;
  const code = errorCode(cause);
  return FILE_TROUBLE[code ?? ''] ?? code ?? 'an unknown error';
}

/** Windows has no such flag, and no pipes among its files. */
const NONBLOCK = constants.O_NONBLOCK ?? 0;

function refuse(stats: Stats, most: number): void {
  if (stats.isDirectory()) throw new UnusableFile('it is a folder');
  if (stats.size > most) throw tooLarge(most);
}

function tooLarge(most: number): UnusableFile {
  return new UnusableFile(`it is larger than ${formatBytes(most)}`);
}

/** A pipe that has nothing to read yet says so. */
function asSilence(cause: unknown): undefined {
  if (cause instanceof Error && 'code' in cause && cause.code === 'EAGAIN') return undefined;
  throw cause;
}

/** The names in a folder, sorted; none where it is not there or cannot be read. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}
