import type { KeyObject } from 'node:crypto';
import { constants, type Dirent } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../../../base/errors.ts';
import { judgeFolder } from '../../../base/trusted-path.ts';
import { parsePublicKeys } from '../named-keys.ts';
import { MAX_NOTE_BYTES } from '../signed-note.ts';
import type { PlacedNote } from './place.ts';

const FOLDER = /^x(\d{3,})$/u;
const FILE = /^(\d{3})(?:-[0-9a-f]{16})?$/u;
const KEY = /^lifeboat-[0-9a-f]{16}\.pub$/u;
const ORIGIN = /^[0-9a-f]{16}$/u;

/**
 * The checkpoints below the folder of a log, the newest first. Other names are passed over; what has the name
 * of a checkpoint and is no plain file, a link say, gives no note, because one may have lain there.
 * `isPrivate`: nor does a file that others could have written. Rejects with what the system says; a folder
 * that is not there holds none.
 */
export async function* allNotes(folder: string, isPrivate: boolean): AsyncIterable<PlacedNote> {
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

/** The checkpoints of one size, by the path of the first of them. */
export async function notesNamed(path: string, isPrivate: boolean): Promise<readonly PlacedNote[]> {
  const size = sizeAt(path);
  const files = (await entriesOf(dirname(path))).filter(
    ({ name }) => FILE.test(name) && name.startsWith(basename(path)),
  );
  return Promise.all(files.map(({ name }) => readPlaced(join(dirname(path), name), size, isPrivate)));
}

/** The public keys in a place. Files that hold none are passed over. */
export async function keysIn(root: string): Promise<readonly KeyObject[]> {
  const names = (await entriesOf(root)).filter((one) => one.isFile() && KEY.test(one.name));
  const texts = await Promise.all(names.map(({ name }) => readSmall(join(root, name), false)));
  return texts.flatMap((read) => parsePublicKeys(read?.text ?? ''));
}

/** The logs of which a place has a folder. */
export async function originsIn(root: string): Promise<readonly string[]> {
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

/** Never follows a link, and never waits for the other end of a pipe. */
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
