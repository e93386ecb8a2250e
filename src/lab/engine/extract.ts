import { chownSync, closeSync, mkdirSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { access, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ExtractEvents, extract, type Header } from 'tar-stream';
import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { EngineUser } from './launcher.ts';

/**
 * Unpacks a base backup into a new folder: 0700 and 0600, owned by the database's user. A base backup holds
 * files and folders only, so anything else (links, devices, paths that leave the folder, a cut tar) rejects
 * with `lab.content`.
 */
export async function extractBaseBackup(
  content: Readable,
  folder: string,
  owner: EngineUser | undefined,
  signal: AbortSignal,
): Promise<void> {
  try {
    await unpackTar(content, folder, signal);
    await access(join(folder, 'PG_VERSION'));
    // ALTER SYSTEM settings belong to the source, including its archive, and would override ours.
    await writeFile(join(folder, 'postgresql.auto.conf'), '', { mode: 0o600 });
    handOver(folder, owner);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    signal.throwIfAborted();
    throw unusable(show(error instanceof Error ? error.message : String(error)), error);
  }
}

/** A thousand files take milliseconds in one go, and tens of them one by one on another thread. */
function handOver(folder: string, owner: EngineUser | undefined): void {
  if (owner === undefined) return;
  for (const path of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })])
    chownSync(join(folder, path), owner.uid, owner.gid);
}

function unusable(why: string, cause: unknown): LifeboatError {
  return new LifeboatError('lab.content', `the backup is not a base backup: ${why}`, {
    hints: ['a scratch instance takes the decrypted and unzipped tar of a backup of this service'],
    cause,
  });
}

/**
 * Unpacks a tar into a new folder (folders 0700, files 0600) and returns the number of entries. Rejects for
 * anything but files and folders, for a path that leaves the folder, for a repeated name, and with errors of
 * the stream, the disk or the signal. The caller removes what was written.
 */
export async function unpackTar(content: Readable, folder: string, signal: AbortSignal): Promise<number> {
  const tar = extract();
  const arrived = pipeline(content, tar, { signal });
  // Every stream error also ends the loop, and is thrown below.
  arrived.catch(() => undefined);
  let entries = 0;
  try {
    mkdirSync(folder, { mode: 0o700 });
    for await (const entry of tar) {
      await writeEntry(entry, folder);
      entries += 1;
    }
  } finally {
    tar.destroy();
  }
  await arrived;
  return entries;
}

type Entry = ExtractEvents['entry'][1];

/**
 * No link is ever made, so no path leads through one. Calls of the disk wait in line: a backup is a thousand
 * small files, and handing each call to another thread takes several times as long as the call.
 */
async function writeEntry(entry: Entry, folder: string): Promise<void> {
  const { name } = entry.header;
  const parts = entryPath(name);
  if (parts === undefined) throw refused(name, 'its path leaves the folder');
  // The library reads a non-numeric size as null, and would wait for that many bytes.
  if (!Number.isSafeInteger(entry.header.size)) throw refused(name, 'its size is not a number');
  const kind = kindOf(entry.header);
  if (kind === undefined) throw refused(name, 'it is neither a file nor a folder');
  const path = join(folder, ...parts);
  mkdirSync(kind === 'folder' ? path : dirname(path), { recursive: true, mode: 0o700 });
  if (kind === 'folder') {
    entry.resume();
    return;
  }
  const file = openSync(path, 'wx', 0o600);
  try {
    for await (const bytes of entry as AsyncIterable<Uint8Array>) writeFileSync(file, bytes);
  } finally {
    closeSync(file);
  }
}

/**
 * The parts of an entry's path below the target folder; empty for the folder itself. Undefined for a path
 * that is absolute, climbs with `..`, or holds a NUL.
 */
function entryPath(name: string): readonly string[] | undefined {
  if (name === '' || name.startsWith('/') || name.includes('\0')) return undefined;
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  return parts.includes('..') ? undefined : parts;
}

/** For a sparse file (GNU, in pax records) the tar holds a map of holes, not the file. */
function kindOf(header: Header): 'file' | 'folder' | undefined {
  if (Object.keys(header.pax ?? {}).some((keyword) => keyword.startsWith('GNU.sparse.'))) return undefined;
  if (header.type === 'directory') return 'folder';
  return header.type === 'file' || header.type === 'contiguous-file' ? 'file' : undefined;
}

function refused(name: string, why: string): Error {
  return new Error(`the tar entry "${show(name, 120)}" is refused: ${why}`);
}
