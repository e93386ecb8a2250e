import { chmod, lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { LifeboatError } from '../errors.ts';
import { show } from '../text.ts';
import { EntryWriter } from './entry-writer.ts';
import { TarWalker } from './tar-walker.ts';

/**
 * Unpacks a tar into a new or empty folder of its own, mode 0700; gives the number of entries. Files come out
 * with mode 0600, or 0700 when their owner may execute them; folders with 0700. Owners, times and special
 * bits are not restored.
 *
 * Hostile archives are refused with `backup.unsafe-entry`: absolute paths, `..`, links that leave the folder,
 * devices, pipes, an entry that is there twice. Symlinks are made last, so that nothing is ever written
 * through one. Other errors: `backup.folder-not-empty`, `backup.corrupt` or `backup.truncated` for a bad tar,
 * `backup.extract-failed` when the disk refuses, and what the stream fails with. After an error the folder is
 * removed; after the death of the process it is left half full.
 */
export async function extractTar(content: Readable, folder: string): Promise<number> {
  try {
    await makeEmptyFolder(folder);
    return await unpack(content, folder).catch(async (error) => {
      await rm(folder, { recursive: true, force: true });
      throw error;
    });
  } catch (error) {
    throw describe(error);
  } finally {
    content.destroy();
  }
}

async function makeEmptyFolder(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  await mkdir(folder, { mode: 0o700 }).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    const isFolder = (await lstat(folder)).isDirectory();
    if (!isFolder || (await readdir(folder)).length > 0) {
      throw new LifeboatError('backup.folder-not-empty', `"${show(folder)}" is not an empty folder`, {
        hints: ['choose a folder that does not exist yet'],
      });
    }
    await chmod(folder, 0o700);
  });
}

/** One chunk of the stream is walked and written at a time; between two of them everybody else has a turn. */
async function unpack(content: Readable, folder: string): Promise<number> {
  const writer = new EntryWriter(folder);
  const walker = new TarWalker({
    onEntry: (entry) => writer.begin(entry),
    onContent: (bytes) => writer.write(bytes),
  });
  try {
    for await (const chunk of content as AsyncIterable<Uint8Array>) walker.write(chunk);
    walker.end();
    writer.finish();
  } finally {
    writer.close();
  }
  return walker.entries;
}

function describe(error: unknown): unknown {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return error;
  return new LifeboatError('backup.extract-failed', `cannot unpack the backup: ${error.code}`, {
    hints: ['check the space and the rights of the folder, then unpack again'],
    cause: error,
  });
}
