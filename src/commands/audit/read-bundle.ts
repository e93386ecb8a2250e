import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ReadableFiles } from '../../audit/bundle/names.ts';
import { isOfFolder, unpackFiles } from '../../audit/bundle/pack.ts';
import { readPlainFile } from '../../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';

export interface ReadBundle {
  readonly files: ReadableFiles;
  readonly problems: readonly { readonly code: string; readonly shortMessage: string }[];
}

/** Of a tar, or a file in a folder: twice the longest run with the longest transcript. */
export const MAX_BUNDLE_BYTES = 64 * 1024 * 1024;

/**
 * Reads a bundle from its tar (`bytes`) or from the folder it was unpacked into. Trusts nothing in it.
 * Rejects with `input.pack`, exit 2, for the tar of an evidence pack, which may be larger than the memory.
 */
export async function readBundle(path: string, bytes: Buffer | undefined): Promise<ReadBundle> {
  if (bytes === undefined) return readFolder(path);
  if (isOfFolder(bytes))
    throw new LifeboatError('input.pack', `${show(path, 200)} is the tar of an evidence pack`, {
      hints: ['unpack it with `tar -xf`, and verify the folder in it', 'nothing was verified'],
      exitCode: EXIT.usage,
    });
  const { files, sound } = unpackFiles(bytes);
  if (sound) return { files, problems: [] };
  const shortMessage = 'the tar is not as lifeboat wrote it; unpack it and verify the folder';
  return { files, problems: [{ code: 'bundle.damaged', shortMessage }] };
}

/** A pack of many runs is larger than the memory, so each file is read when it is asked for. */
function readFolder(folder: string): ReadBundle {
  const paths = new Map<string, string>();
  const problems: { code: string; shortMessage: string }[] = [];
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(folder, name);
    const stat = lstatSync(path);
    if (stat.isDirectory()) continue;
    const shown = name.replaceAll('\\', '/');
    if (!stat.isFile()) {
      problems.push({ code: 'file.extra', shortMessage: `${show(shown, 120)} is not a file` });
      continue;
    }
    if (stat.size > MAX_BUNDLE_BYTES) throw tooLarge(path);
    if (paths.size >= MAX_FILES) throw tooLarge(folder);
    paths.set(shown, path);
  }
  const get = (name: string) => {
    const path = paths.get(name);
    return path === undefined ? undefined : readPlainFile(path, MAX_BUNDLE_BYTES);
  };
  return { files: { get, has: (name) => paths.has(name), keys: () => paths.keys() }, problems };
}

/** A pack of a hundred thousand runs. */
const MAX_FILES = 1_000_000;

function tooLarge(folder: string): LifeboatError {
  return new LifeboatError('input.file', `${show(folder, 200)} is too large for a bundle`, {
    hints: ['name the folder that the bundle was unpacked into, with nothing else in it'],
    exitCode: EXIT.usage,
  });
}
