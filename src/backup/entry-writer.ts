import { constants } from 'node:fs';
import { type FileHandle, link, lstat, mkdir, open, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LifeboatError } from '../errors.ts';
import { show } from '../text.ts';
import { entryPath, linkTargetStays } from './safe-path.ts';
import type { TarEntry } from './tar-walker.ts';

/** Never the file that a link leads to, never one that is there. */
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Writes the entries of a tar into a folder that nobody else writes to. Each call rejects with
 * `backup.unsafe-entry` for what could touch anything outside, or with the error of the system.
 */
export class EntryWriter {
  readonly #folder: string;
  /** Path and target; made at the end, so that no path of an entry can lead through one. */
  readonly #symlinks = new Map<string, string>();
  #file: FileHandle | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Creates an entry. The content of a file follows by `write`. */
  async begin(entry: TarEntry): Promise<void> {
    await this.close();
    const parts = entryPath(entry.name);
    if (parts === undefined) throw unsafe(entry.name, 'its path leaves the folder');
    const path = join(this.#folder, ...parts);
    const kind = kindOf(entry);
    if (parts.length === 0 && kind !== 'folder') throw unsafe(entry.name, 'it has no name');
    if (entry.size > 0 && kind !== 'file') throw unsafe(entry.name, 'it is no file but has content');
    const parent = kind === 'folder' ? path : dirname(path);
    await creating(mkdir(parent, { recursive: true, mode: 0o700 }), entry.name);
    if (kind === 'file') {
      const mode = (entry.mode & 0o100) === 0 ? 0o600 : 0o700;
      this.#file = await creating(open(path, NEW_FILE, mode), entry.name);
    } else if (kind === 'symlink') {
      this.#noteSymlink(entry, parts, path);
    } else if (kind === 'hard link') {
      await this.#linkFile(entry, path);
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#file?.writeFile(bytes);
  }

  /** Makes the symlinks. Nothing may be written after that. */
  async finish(): Promise<void> {
    for (const [path, target] of this.#symlinks) await creating(symlink(target, path), path);
  }

  /** Closes the open file. */
  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  #noteSymlink(entry: TarEntry, parts: readonly string[], path: string): void {
    if (!linkTargetStays(parts, entry.linkName)) throw unsafe(entry.name, 'its target may leave the folder');
    if (this.#symlinks.has(path)) throw unsafe(entry.name, 'another entry has its place');
    this.#symlinks.set(path, entry.linkName);
  }

  async #linkFile(entry: TarEntry, path: string): Promise<void> {
    const parts = entryPath(entry.linkName);
    const target = parts === undefined ? undefined : join(this.#folder, ...parts);
    // No symlink exists yet, so the path leads to a file of this archive or to nothing.
    const stats = target === undefined ? undefined : await lstat(target).catch(() => undefined);
    if (target === undefined || stats?.isFile() !== true) {
      throw unsafe(entry.name, 'its target is no file of this archive');
    }
    await creating(link(target, path), entry.name);
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

/** What stands in the way was made by an earlier entry: the folder was empty. */
async function creating<T>(made: Promise<T>, name: string): Promise<T> {
  return await made.catch((error: NodeJS.ErrnoException) => {
    const inTheWay = error.code === 'EEXIST' || error.code === 'EISDIR' || error.code === 'ENOTDIR';
    throw inTheWay ? unsafe(name, 'another entry has its place') : error;
  });
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
