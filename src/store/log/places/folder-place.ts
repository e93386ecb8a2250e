import { hash, type KeyObject, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  type Dirent,
  existsSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, link, open, readdir, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode, FILE_TROUBLE, LifeboatError } from '../../../base/errors.ts';
import { makeSharedFolder, syncFolder } from '../../../base/folders.ts';
import { withinOrSilent } from '../../../base/patience.ts';
import { judgeFolder, makeFolderInside } from '../../../base/trusted-path.ts';
import { claimOf, MAX_NOTE_BYTES } from '../checkpoint.ts';
import { parsePublicKeys } from '../named-keys.ts';
import type { Signer } from '../signer.ts';
import type { LookFor, Place, PlacedNote } from './place.ts';

/**
 * Milliseconds. A folder gets a short limit: on a dead network mount it never answers. The home gets a long
 * one: no change to an instance goes on without it, and the journal is on the same disk.
 */
const PATIENCE_MS = { home: 30_000, folder: 5_000 };

/** For new folders and files, like those of the place's other users. */
interface Modes {
  readonly folder: number;
  readonly file: number;
}

const PRIVATE: Modes = { folder: 0o700, file: 0o600 };

/** The required place: `checkpoints` in the home. Refuses links, and folders that others can write. */
export function homePlace(home: string): Place {
  return new FolderPlace(join(home, 'checkpoints'), home);
}

/** Installations may share it: a mounted disk, a checkout. New folders inherit its permissions. */
export function folderPlace(folder: string): Place {
  return new FolderPlace(folder, undefined);
}

class FolderPlace implements Place {
  readonly name: string;
  readonly kind: 'home' | 'folder';
  readonly #root: string;
  readonly #home: string | undefined;
  readonly #keysKept = new Set<string>();
  /** The home's last folder that was created and verified to belong to its owner. */
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
    // An empty folder is a finding; a missing one is an error, except in the home.
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

  /** Returns that size's checkpoints with another root. */
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

/** A link in a shared folder must not redirect a write. */
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

/*
 * The checkpoints outside of the store, which show a rollback:
 *
 *     <root>/lifeboat-<16 hex digits>.pub     public key of an installation, PEM
 *     <root>/<16 hex digits of the origin>/x001/x234/067
 *         the checkpoint of size 1234067
 *     <root>/<16 hex digits of the origin>/x001/x234/067-<16 hex digits of the note's SHA-256>
 *         another one of that size: other calls are armed, or another history was signed
 *
 * Nothing is replaced. No folder has more names than a thousand sizes have; descending finds the newest.
 */

const FOLDER = /^x(\d{3,})$/u;
const FILE = /^(\d{3})(?:-[0-9a-f]{16})?$/u;
const KEY = /^lifeboat-[0-9a-f]{16}\.pub$/u;
const ORIGIN = /^[0-9a-f]{16}$/u;

/**
 * Newest first, below the folder of a log. Ignores other names. A path with the name of a checkpoint that is
 * not a plain file, such as a link, yields no note, because a checkpoint may have been there; with
 * `isPrivate`, so does a file that others could have written. Rejects with the system's errors; a missing
 * folder holds none.
 */
async function* allNotes(folder: string, isPrivate: boolean): AsyncIterable<PlacedNote> {
  for (const millions of await foldersIn(folder))
    for (const thousands of await foldersIn(join(folder, millions.name))) {
      const below = join(folder, millions.name, thousands.name);
      const files = (await entriesOf(below)).filter(({ name }) => FILE.test(name));
      for (const { name } of files.sort((one, other) => (one.name < other.name ? 1 : -1)))
        yield readPlaced(
          join(below, name),
          millions.number * 1e6 + thousands.number * 1e3 + Number(name.slice(0, 3)),
          isPrivate,
        );
    }
}

/** By the path of the first one. */
async function notesNamed(path: string, isPrivate: boolean): Promise<readonly PlacedNote[]> {
  const size = sizeAt(path);
  const files = (await entriesOf(dirname(path))).filter(
    ({ name }) => FILE.test(name) && name.startsWith(basename(path)),
  );
  return Promise.all(files.map(({ name }) => readPlaced(join(dirname(path), name), size, isPrivate)));
}

/** Ignores files without a key. */
async function keysIn(root: string): Promise<readonly KeyObject[]> {
  const names = (await entriesOf(root)).filter((one) => one.isFile() && KEY.test(one.name));
  const texts = await Promise.all(names.map(({ name }) => readSmall(join(root, name), false)));
  return texts.flatMap((read) => parsePublicKeys(read?.text ?? ''));
}

async function originsIn(root: string): Promise<readonly string[]> {
  const folders = (await entriesOf(root)).filter((one) => one.isDirectory() && ORIGIN.test(one.name));
  return folders.map(({ name }) => `lifeboat/${name}`);
}

function sizeAt(path: string): number {
  const [millions, thousands, name] = path.split(/[/\\]/u).slice(-3);
  return Number(millions?.slice(1)) * 1e6 + Number(thousands?.slice(1)) * 1e3 + Number(name);
}

async function foldersIn(
  folder: string,
): Promise<readonly { readonly name: string; readonly number: number }[]> {
  return (await entriesOf(folder))
    .filter((one) => one.isDirectory() && FOLDER.test(one.name))
    .map(({ name }) => ({ name, number: Number(name.slice(1)) }))
    .sort((one, other) => other.number - one.number);
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (thrown) {
    if (errorCode(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}

async function readPlaced(file: string, size: number, isPrivate: boolean): Promise<PlacedNote> {
  const read = await readSmall(file, isPrivate);
  return { file, size, note: read?.text, writtenAt: read?.at ?? '' };
}

/** Neither follows links nor waits for the other end of a pipe. */
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

async function readSmall(path: string, isPrivate: boolean) {
  const handle = await open(path, FLAGS).catch((thrown: unknown) => {
    if (errorCode(thrown) === 'EIO' || errorCode(thrown) === 'ESTALE') throw thrown;
    return undefined;
  });
  try {
    const stats = await handle?.stat();
    const isUsable = stats?.isFile() === true && stats.size <= MAX_NOTE_BYTES;
    if (handle === undefined || stats === undefined || !isUsable) return undefined;
    if (isPrivate && judgeFolder(stats, path).length > 0) return undefined;
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await handle.readFile());
    return { text, at: stats.mtime.toISOString() };
  } catch (thrown) {
    if (thrown instanceof TypeError) return undefined;
    throw thrown;
  } finally {
    await handle?.close();
  }
}

/*
 * A file is written whole under a temporary name and then linked to its final one; link(2) refuses if that
 * exists. A file system without hard links gets it in place, where a power cut may leave a part that no
 * reader accepts as a checkpoint.
 */

/** Durable; false if something is already there. Blocks, for a local disk. */
function writeOnceSync(path: string, text: string, mode: number): boolean {
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

/** As `writeOnceSync`, without blocking: the folder may never answer. */
async function writeOnce(path: string, text: string, mode: number): Promise<boolean> {
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

/** Windows has no fsync for folders. */
async function sync(folder: string): Promise<void> {
  if (process.platform !== 'win32') await withHandle(folder, constants.O_RDONLY, (handle) => handle.sync());
}

async function withHandle(
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

/** Errors of link(2) on file systems without hard links. */
const WITHOUT_LINKS: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL']);

function isWithoutLinks(thrown: unknown): boolean {
  return WITHOUT_LINKS.has(errorCode(thrown));
}

/** No reader accepts such a name as a checkpoint. */
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

/** Inside a place. */
export function folderOf(origin: string): string {
  return origin.replace(/^lifeboat\//u, '');
}

/** Below the folder of its log. */
export function pathOfSize(size: number): string {
  const part = (from: number) => String(Math.floor(size / from) % 1000).padStart(3, '0');
  return join(
    `x${String(Math.floor(size / 1e6)).padStart(3, '0')}`,
    `x${part(1000)}`,
    String(size % 1000).padStart(3, '0'),
  );
}

function nameBeside(name: string, note: string): string {
  return `${name}-${hash('sha256', note, 'hex').slice(0, 16)}`;
}
