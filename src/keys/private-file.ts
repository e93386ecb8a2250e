import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readHandle, UnusableFile, unlessReplaced } from '../base/bounded-file.ts';
import { EXIT, LifeboatError, troubleWith } from '../base/errors.ts';
import { makePrivateFolder } from '../base/folders.ts';
import { show } from '../base/text.ts';
import { assertTrusted } from '../base/trusted-path.ts';

const MAX_BYTES = 4 * 1024 * 1024;
const POSIX = process.platform !== 'win32';
const ANYONE_ELSE = 0o077;
const OTHERS_WRITE = 0o022;
const STICKY = 0o1000;
const FOREIGN = { code: 'keys.permissions', exitCode: EXIT.failed };

/** `name` is for messages; a pipe is for instance `/dev/fd/3`. */
export interface PrivateFileKind {
  readonly name: string;
  readonly mayBeLinkOrPipe: boolean;
}

/**
 * Reads a whole file of secrets (at most 4 MiB); undefined if there is none. Rejects with `keys.permissions`
 * if others can read it or could have written it (for a link: its target and its location), `keys.not-a-file`
 * for a link, folder or pipe that is not allowed, `keys.too-large`, and `keys.io` for disk errors. Returns
 * `last` itself if the file still has exactly these bytes.
 */
export async function readPrivateFile(
  path: string,
  kind: PrivateFileKind,
  last?: Buffer,
): Promise<Buffer | undefined> {
  return await unlessReplaced(() => readOnce(path, kind, last));
}

async function readOnce(
  path: string,
  kind: PrivateFileKind,
  last: Buffer | undefined,
): Promise<Buffer | undefined> {
  const handle = await openToRead(path, kind);
  if (handle === undefined) return undefined;
  try {
    const stats = await handle.stat();
    const isFile = stats.isFile();
    if (!isFile && !kind.mayBeLinkOrPipe) throw notAFile(path, kind, 'it is not a plain file');
    if (isFile && POSIX && (stats.mode & ANYONE_ELSE) !== 0) throw openToOthers(path, kind, stats.mode);
    assertTrusted(kind.name, path, stats, FOREIGN);
    if (stats.size > MAX_BYTES) throw tooLarge(path, kind);
    if (isFile && last?.length === stats.size && (await holds(handle, last))) return last;
    return await readHandle(handle, stats, MAX_BYTES);
  } catch (cause) {
    if (cause instanceof UnusableFile) throw notAFile(path, kind, cause.message);
    throw cause instanceof LifeboatError ? cause : ioError('read', path, cause);
  } finally {
    await handle.close();
  }
}

const PIECE = 64 * 1024;

/**
 * Compares in pieces: a vault of ten thousand keys is compared for each of them, and whole copies would fill
 * the memory. Keeps the file's position.
 */
async function holds(handle: FileHandle, bytes: Buffer): Promise<boolean> {
  const piece = Buffer.allocUnsafe(Math.min(PIECE, bytes.length));
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await handle.read(piece, 0, Math.min(PIECE, bytes.length - at), at);
    if (bytesRead === 0 || piece.compare(bytes, at, at + bytesRead, 0, bytesRead) !== 0) return false;
    at += bytesRead;
  }
  return true;
}

/**
 * Replaces a file, mode 0600, in a folder created with 0700 if missing. At any instant the old or the new
 * file is there whole; the new one is on disk when this resolves. A process that dies inside may leave a
 * `*.tmp` file with no more than the new file. `check` gets what was written, read back, before it replaces
 * the old file, which stays if `check` rejects. Rejects with `keys.io`, and as `check` does.
 */
export async function replacePrivateFile(
  path: string,
  bytes: Uint8Array,
  check?: (written: Buffer) => Promise<void>,
): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeFile(temporary, bytes, { flag: 'wx', mode: 0o600, flush: true });
    if (check !== undefined) await check(await readFile(temporary));
    await rename(temporary, path);
    await flushFolder(dirname(path));
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => {});
    throw cause instanceof LifeboatError ? cause : ioError('write', path, cause);
  }
}

/** Mode 0700. Refuses a folder in which others can replace files (`keys.permissions`). */
export async function ensurePrivateFolder(path: string): Promise<void> {
  try {
    makePrivateFolder(path);
    const { mode } = await stat(path);
    // The owner's group is excluded too: only the owner needs access to keys.
    if (!POSIX || (mode & OTHERS_WRITE) === 0 || (mode & STICKY) !== 0)
      return assertTrusted('folder', path, undefined, FOREIGN);
  } catch (cause) {
    if (cause instanceof LifeboatError) throw cause;
    throw ioError('use the folder', path, cause);
  }
  throw new LifeboatError('keys.permissions', `others can write to the folder ${show(path)}`, {
    hints: ['nothing was written', `chmod 700 ${show(path)}`],
  });
}

async function openToRead(path: string, kind: PrivateFileKind): Promise<FileHandle | undefined> {
  // The open itself refuses links and does not wait for a pipe's writer: a check beforehand could be raced.
  const strict = kind.mayBeLinkOrPipe ? 0 : (constants.O_NOFOLLOW ?? 0);
  try {
    return await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | strict);
  } catch (cause) {
    if (errno(cause) === 'ENOENT') return undefined;
    if (errno(cause) === 'ELOOP') throw notAFile(path, kind, 'it is a symbolic link');
    throw ioError('read', path, cause);
  }
}

/** A rename is durable only after this; Windows has no such call and does not need it. */
async function flushFolder(path: string): Promise<void> {
  if (!POSIX) return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function notAFile(path: string, kind: PrivateFileKind, what: string): LifeboatError {
  return new LifeboatError('keys.not-a-file', `the ${kind.name} ${show(path)} is not used: ${what}`, {
    hints: ['nothing was read or written', `put the ${kind.name} itself there, or name its real path`],
  });
}

function openToOthers(path: string, kind: PrivateFileKind, mode: number): LifeboatError {
  const octal = (mode & 0o777).toString(8).padStart(4, '0');
  return new LifeboatError('keys.permissions', `others can open the ${kind.name} ${show(path)} (${octal})`, {
    hints: [`chmod 600 ${show(path)}`, 'if others use this machine, treat what it held as known to them'],
    evidence: { mode: octal },
  });
}

function tooLarge(path: string, kind: PrivateFileKind): LifeboatError {
  return new LifeboatError('keys.too-large', `the ${kind.name} ${show(path)} is larger than 4 MiB`, {
    hints: ['nothing was changed', 'check that the path names the right file'],
  });
}

function ioError(what: string, path: string, cause: unknown): LifeboatError {
  const { why, advice } = troubleWith(path, cause);
  return new LifeboatError('keys.io', `cannot ${what} ${show(path, 120)}: ${why}`, {
    hints: [`${advice}, then try again`],
    evidence: { error: show(cause instanceof Error ? cause.message : String(cause)) },
    cause,
  });
}

function errno(cause: unknown): string | undefined {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
}
