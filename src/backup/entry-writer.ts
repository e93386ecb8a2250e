import {
  closeSync,
  constants,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { LifeboatError } from '../errors.ts';
import { show } from '../text.ts';
import { entryPath, linkTargetStays } from './safe-path.ts';
import type { TarEntry } from './tar-walker.ts';

/** Never the file that a link leads to, never one that is there. */
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Writes the entries of a tar into a folder that nobody else writes to. Each call throws `backup.unsafe-entry` for what
 * could touch anything outside, or the error of the system. Nothing waits: a backup is a thousand small files, and handing
 * each call to another thread takes several times as long as the call.
 */
export class EntryWriter {
  readonly #folder: string;
  /** Made by an earlier entry; what was made stays, for nothing here removes or replaces. */
  readonly #folders = new Set<string>();
  /** Path and target; made at the end, so that no path of an entry can lead through one. */
  readonly #symlinks = new Map<string, string>();
  #file: number | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Creates an entry. The content of a file follows by `write`. */
  begin(entry: TarEntry): void {
    this.close();
    const parts = entryPath(entry.name);
    if (parts === undefined) throw unsafe(entry.name, 'its path leaves the folder');
    const path = join(this.#folder, ...parts);
    const kind = kindOf(entry);
    if (parts.length === 0 && kind !== 'folder') throw unsafe(entry.name, 'it has no name');
    if (entry.size > 0 && kind !== 'file') throw unsafe(entry.name, 'it is no file but has content');
    this.#makeFolder(kind === 'folder' ? path : dirname(path), entry.name);
    if (kind === 'file') {
      const mode = (entry.mode & 0o100) === 0 ? 0o600 : 0o700;
      this.#file = creating(() => openSync(path, NEW_FILE, mode), entry.name);
    } else if (kind === 'symlink') {
      this.#noteSymlink(entry, parts, path);
    } else if (kind === 'hard link') {
      this.#linkFile(entry, path);
    }
  }

  write(bytes: Uint8Array): void {
    if (this.#file !== undefined) writeFileSync(this.#file, bytes);
  }

  /** Makes the symlinks. Nothing may be written after that. */
  finish(): void {
    for (const [path, target] of this.#symlinks) creating(() => symlinkSync(target, path), path);
  }

  /** Closes the open file. */
  close(): void {
    const file = this.#file;
    this.#file = undefined;
    if (file !== undefined) closeSync(file);
  }

  #makeFolder(path: string, name: string): void {
    if (this.#folders.has(path)) return;
    creating(() => mkdirSync(path, { recursive: true, mode: 0o700 }), name);
    this.#folders.add(path);
  }

  #noteSymlink(entry: TarEntry, parts: readonly string[], path: string): void {
    if (!linkTargetStays(parts, entry.linkName)) throw unsafe(entry.name, 'its target may leave the folder');
    if (this.#symlinks.has(path)) throw unsafe(entry.name, 'another entry has its place');
    this.#symlinks.set(path, entry.linkName);
  }

  #linkFile(entry: TarEntry, path: string): void {
    const parts = entryPath(entry.linkName);
    const target = parts === undefined ? undefined : join(this.#folder, ...parts);
    // No symlink exists yet, so the path leads to a file of this archive or to nothing.
    if (target === undefined || !isFile(target)) {
      throw unsafe(entry.name, 'its target is no file of this archive');
    }
    creating(() => linkSync(target, path), entry.name);
  }
}

function kindOf(entry: TarEntry): 'file' | 'folder' | 'symlink' | 'hard link' {
  if (entry.sparse) throw unsafe(entry.name, 'it is a sparse file');
  // Writers from before ustar mark a folder by the slash alone.
  if (entry.type === '5' || (entry.type === '0' && entry.name.endsWith('/'))) return 'folder';
  if (entry.type === '0' || entry.type === '7') return 'file';
  if (entry.type === '1') return 'hard link';
  if (entry.type === '2') return 'symlink';
  throw unsafe(entry.name, `it is of type ${JSON.stringify(entry.type)}: no file, folder or link`);
}

function isFile(path: string): boolean {
  try {
    return lstatSync(path).isFile();
  } catch {
    return false;
  }
}

/** What stands in the way was made by an earlier entry: the folder was empty. */
function creating<T>(make: () => T, name: string): T {
  try {
    return make();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const inTheWay = code === 'EEXIST' || code === 'EISDIR' || code === 'ENOTDIR';
    throw inTheWay ? unsafe(name, 'another entry has its place') : error;
  }
}

function unsafe(name: string, reason: string): LifeboatError {
  return new LifeboatError(
    'backup.unsafe-entry',
    `the tar entry "${show(name, 120)}" is refused: ${reason}`,
    {
      hints: ['nothing is left on disk: look into the archive before you use it elsewhere'],
    },
  );
}
