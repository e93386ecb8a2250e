import { constants, existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode, FILE_TROUBLE, LifeboatError } from '../../../base/errors.ts';
import { makeSharedFolder } from '../../../base/folders.ts';
import { withinOrSilent } from '../../../base/patience.ts';
import { makeFolderInside } from '../../../base/trusted-path.ts';
import { claimOf } from '../checkpoint.ts';
import type { Signer } from '../signer.ts';
import {
  allNotes,
  folderOf,
  keysIn,
  nameBeside,
  notesNamed,
  originsIn,
  pathOfSize,
  sync,
  withHandle,
  writeOnce,
  writeOnceSync,
} from './folder-files.ts';
import type { LookFor, Place, PlacedNote } from './place.ts';

/**
 * Milliseconds. A folder on a dead network mount never answers, so it gets a short limit. The home gets a
 * long one: no change to an instance goes on without it, and the journal is on the same disk.
 */
const PATIENCE_MS = { home: 30_000, folder: 5_000 };

/** Modes of new folders and files, like those of the place's other users. */
interface Modes {
  readonly folder: number;
  readonly file: number;
}

const PRIVATE: Modes = { folder: 0o700, file: 0o600 };

/** The required place: `checkpoints` in the home. Links, and folders that others can write, are refused. */
export function homePlace(home: string): Place {
  return new FolderPlace(join(home, 'checkpoints'), home);
}

/** A folder that installations may share: a mounted disk, a checkout. New folders inherit its permissions. */
export function folderPlace(folder: string): Place {
  return new FolderPlace(folder, undefined);
}

class FolderPlace implements Place {
  readonly name: string;
  readonly kind: 'home' | 'folder';
  readonly #root: string;
  readonly #home: string | undefined;
  readonly #keysKept = new Set<string>();
  /** The last folder of the home that was created and verified to belong to its owner. */
  #made: string | undefined;
  readonly #inTime: ReturnType<typeof withinOrSilent>;

  constructor(root: string, home: string | undefined) {
    this.name = root;
    this.kind = home === undefined ? 'folder' : 'home';
    this.#root = root;
    this.#home = home;
    this.#inTime = withinOrSilent(PATIENCE_MS[this.kind], 'it has not answered yet');
  }

  async write(note: string, signer: Pick<Signer, 'installation' | 'publicKey'>) {
    const others = await this.#tried(() => this.#keep(note, signer));
    if ('why' in others) return { result: 'down' as const, why: others.why };
    if (others.value.length === 0) return { result: 'written' as const };
    return { result: 'conflict' as const, others: others.value };
  }

  async look(wanted: LookFor) {
    const found = await this.#tried(async () => ({
      notes: await this.#newest(wanted),
      keys: await keysIn(this.#root),
      origins: await originsIn(this.#root),
    }));
    return 'why' in found
      ? { result: 'down' as const, why: found.why }
      : { result: 'read' as const, ...found.value };
  }

  all(origin: string): AsyncIterable<PlacedNote> {
    return allNotes(join(this.#root, folderOf(origin)), this.#home !== undefined);
  }

  async #newest({ origin, beyond, most }: LookFor): Promise<readonly PlacedNote[]> {
    // An empty folder is a finding; a missing folder is an error, except in the home.
    if (this.#home === undefined) await stat(this.#root);
    const found: PlacedNote[] = [];
    let others = 0;
    if (origin === undefined) return found;
    for await (const placed of this.all(origin)) {
      if (placed.size <= beyond) others += 1;
      if (others > most) break;
      found.push(placed);
    }
    return found;
  }

  /** Returns the checkpoints of that size that have another root. */
  async #keep(
    note: string,
    { installation, publicKey }: Pick<Signer, 'installation' | 'publicKey'>,
  ): Promise<readonly PlacedNote[]> {
    const claim = claimOf(note);
    if (claim === undefined) throw new Error('it is not a checkpoint');
    const path = join(this.#root, folderOf(claim.origin), pathOfSize(claim.size));
    const modes = await this.#makeFolders(dirname(path));
    if (!this.#keysKept.has(installation)) {
      await this.#writeOnce(join(this.#root, `lifeboat-${installation}.pub`), publicKey, modes.file);
      this.#keysKept.add(installation);
    }
    if (await this.#writeOnce(path, note, modes.file)) return [];
    const present = await notesNamed(path, this.#home !== undefined);
    if (!present.some((placed) => placed.note === note))
      await this.#writeOnce(join(dirname(path), nameBeside(basename(path), note)), note, modes.file);
    return present.filter((placed) => {
      const other = claimOf(placed.note);
      return other !== undefined && other.root !== claim.root;
    });
  }

  async #makeFolders(folder: string): Promise<Modes> {
    if (this.#home !== undefined) {
      if (this.#made === folder && existsSync(folder)) return PRIVATE;
      makeFolderInside(this.#home, folder);
      await syncUpTo(folder, this.#home);
      this.#made = folder;
      return PRIVATE;
    }
    await makeSharedFolder(this.#root);
    const { mode } = await stat(this.#root);
    const modes = { folder: mode & 0o2777, file: (mode & 0o444) | 0o200 };
    await assertNoLinks(this.#root, folder);
    const first = await makeSharedFolder(folder);
    if (first !== undefined) {
      for (let at = folder; at.length >= first.length; at = dirname(at))
        await withHandle(at, constants.O_RDONLY, (handle) => handle.chmod(modes.folder));
      await syncUpTo(folder, dirname(first));
    }
    return modes;
  }

  #writeOnce(path: string, text: string, mode: number): Promise<boolean> | boolean {
    return this.#home === undefined ? writeOnce(path, text, mode) : writeOnceSync(path, text, mode);
  }

  async #tried<T>(act: () => Promise<T>): Promise<{ readonly value: T } | { readonly why: string }> {
    try {
      return { value: await this.#inTime(act) };
    } catch (thrown) {
      return { why: whyOf(thrown) };
    }
  }
}

/** A link in a shared folder must not redirect where files are written. */
async function assertNoLinks(root: string, folder: string): Promise<void> {
  for (let at = folder; at.length > root.length; at = dirname(at))
    await withHandle(at, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0), async () => undefined).catch(
      (thrown: unknown) => {
        if (errorCode(thrown) !== 'ENOENT') throw thrown;
      },
    );
}

async function syncUpTo(folder: string, top: string): Promise<void> {
  for (let at = folder; at.length >= top.length; at = dirname(at)) {
    await sync(at);
    if (at === dirname(at)) return;
  }
}

function whyOf(thrown: unknown): string {
  if (thrown instanceof LifeboatError) return thrown.shortMessage;
  const code = errorCode(thrown);
  return FILE_TROUBLE[code ?? ''] ?? code ?? (thrown instanceof Error ? thrown.message : 'an unknown error');
}
