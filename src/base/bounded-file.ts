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

const LONELY_MS = 1_000;
/** A program at the other end may ask a person for a passphrase first. */
const SILENT_MS = 120_000;
const LOOK_MS = 20;
const CHUNK = 64 * 1024;
/** How often a file is opened again if another one is renamed over it before it is checked. */
const MAX_OPENS = 3;

/**
 * The bytes of a small file that a person named: a plain file, or a pipe or device such as `/dev/fd/3`. Never
 * reads more than `most`, and never blocks the process in an open or a read, so that it can be ended at any
 * time. `check` sees the opened file before anything is read. Rejects with an `UnusableFile` if it is too
 * large, a folder, or silent, and otherwise with the system's error (`ENOENT`).
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
 * Retries `read`, which throws as `assertTrusted` does, a few times if its file was replaced while opened.
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

/** As `readBounded`, for an open file; without blocking (`O_NONBLOCK`) if it may be a pipe. */
export async function readHandle(handle: FileHandle, stats: Stats, most: number): Promise<Buffer> {
  refuse(stats, most);
  // A known size avoids a second copy in memory; files in /proc have no size.
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

/** No more than the size at the time of the request: the file may grow. */
async function readSized(handle: FileHandle, total: number): Promise<Buffer> {
  const bytes = passingBuffer(total);
  let size = 0;
  for (let read = -1; read !== 0 && size < total; size += read)
    read = (await handle.read(bytes, size, total - size, size)).bytesRead;
  return bytes.subarray(0, size);
}

/**
 * The bytes of a plain file of our own. Throws an `UnusableFile` for anything else or a larger file. `check`
 * sees the opened file before anything is read.
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
 * Undefined if nothing has this name, or it cannot be checked. Does not open the file: opening a pipe would
 * take input that another reader waits for.
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
    return readPassing(file, stats.size);
  } finally {
    closeSync(file);
  }
}

/** Removes a link that would redirect a write. Throws the system's errors, but not for a missing path. */
export function dropLink(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) rmSync(path);
}

/** The message says what is at the path instead, as the end of a sentence. */
export class UnusableFile extends Error {}

/** The end of a message; a code without words stays unchanged. */
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

function asSilence(cause: unknown): undefined {
  if (cause instanceof Error && 'code' in cause && cause.code === 'EAGAIN') return undefined;
  throw cause;
}

/** Sorted; none if the folder is missing or unreadable. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}

/** What is smaller is left to malloc. */
const LARGE = 256 * 1024;

/**
 * Zeroes, for a whole file that is read and let go. A large buffer has pages of its own instead of malloc's:
 * once glibc has freed a large block, it keeps up to twice as much free memory at the end of each thread's
 * arena (`M_TRIM_THRESHOLD` of mallopt(3)), which is 20 MiB of a board of ten thousand.
 */
function passingBuffer(size: number): Buffer {
  if (size < LARGE) return Buffer.alloc(size);
  return Buffer.from(new ArrayBuffer(size, { maxByteLength: size }), 0, size);
}

/** The first bytes of an open plain file, by default as many as it has now: it may grow. */
export function readPassing(file: number, most: number = fstatSync(file).size): Buffer {
  const bytes = passingBuffer(most);
  let size = 0;
  for (let read = -1; read !== 0 && size < bytes.length; size += read)
    read = readSync(file, bytes, size, bytes.length - size, size);
  return bytes.subarray(0, size);
}

/** A text in UTF-8. */
export function passingBytes(text: string): Buffer {
  const bytes = passingBuffer(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** The text of UTF-8, without a copy of all bytes, which Node would ask malloc for. */
export function passingText(bytes: Buffer): string {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let text = '';
  for (let at = 0; at < bytes.length; at += LARGE)
    text += decoder.decode(bytes.subarray(at, at + LARGE), { stream: true });
  return text + decoder.decode();
}
