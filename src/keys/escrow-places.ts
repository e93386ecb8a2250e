import { createHash } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readPlainFile, UnusableFile, whyUnread } from '../base/bounded-file.ts';
import { LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { copyText, type EscrowCopy, MAX_COPY_BYTES, readCopy } from './escrow-copy.ts';

export interface FiledCopy {
  readonly path: string;
  readonly copy: EscrowCopy;
}

/** `broken`: files that should be copies and are not. */
export interface FolderOfCopies {
  readonly copies: readonly FiledCopy[];
  readonly broken: readonly { readonly path: string; readonly why: string }[];
}

/** More files of one instance are ignored. */
const MAX_FILES = 1000;

function copyPath(folder: string, { instance, fingerprint }: Pick<EscrowCopy, 'instance' | 'fingerprint'>) {
  return join(folder, instance, `${fingerprint}.age.txt`);
}

/**
 * Writes a copy and reads it back: at any instant the old file or the new one is there whole, and the new one
 * is on disk when this resolves with its SHA-256. Rejects with `escrow.place`.
 */
export async function writeCopy(folder: string, copy: EscrowCopy): Promise<string> {
  const path = copyPath(folder, copy);
  const text = copyText(copy);
  try {
    const { default: writeFileAtomic } = await import('write-file-atomic');
    await mkdir(join(folder, copy.instance), { recursive: true });
    await writeFileAtomic(path, text);
    if (readPlainFile(path, MAX_COPY_BYTES).toString() !== text)
      throw new UnusableFile('it reads back changed');
  } catch (thrown) {
    throw new LifeboatError(
      'escrow.place',
      `no escrow copy could be written to ${show(path, 200)}: ${whyUnread(thrown)}`,
      {
        hints: [
          'nothing was sent to the service',
          'make the folder writable, or correct `keys.escrow.places`',
        ],
        cause: thrown,
      },
    );
  }
  return createHash('sha256').update(text).digest('hex');
}

/** Sorted by path. A missing folder has none; one that cannot be listed rejects with `escrow.place`. */
export async function readCopies(folder: string, instance?: string): Promise<FolderOfCopies> {
  const copies: FiledCopy[] = [];
  const broken: { path: string; why: string }[] = [];
  for (const name of instance === undefined ? await foldersIn(folder) : [instance]) {
    for (const file of (await filesIn(join(folder, name))).slice(0, MAX_FILES)) {
      const path = join(folder, name, file);
      const read = readFile(path);
      if ('wrong' in read) broken.push({ path, why: read.wrong });
      else if (read.instance !== name || `${read.fingerprint}.age.txt` !== file)
        broken.push({ path, why: `its head names key ${read.fingerprint} of ${show(read.instance, 80)}` });
      else copies.push({ path, copy: read });
    }
  }
  return { copies, broken };
}

function readFile(path: string): EscrowCopy | { readonly wrong: string } {
  try {
    return readCopy(readPlainFile(path, MAX_COPY_BYTES).toString());
  } catch (thrown) {
    return { wrong: whyUnread(thrown) };
  }
}

async function foldersIn(folder: string): Promise<string[]> {
  const found = await listed(folder);
  return found
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort();
}

async function filesIn(folder: string): Promise<string[]> {
  const found = await listed(folder);
  return found
    .filter(({ name }) => name.endsWith('.age.txt') && !name.startsWith('.'))
    .map(({ name }) => name)
    .sort();
}

async function listed(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new LifeboatError(
      'escrow.place',
      `the escrow folder ${show(folder, 200)} cannot be listed: ${whyUnread(thrown)}`,
      {
        hints: ['mount it or correct `keys.escrow.places`, then try again'],
        cause: thrown,
      },
    );
  }
}
