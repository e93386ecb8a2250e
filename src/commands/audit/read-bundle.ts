import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type BundleFiles, unpackFiles } from '../../audit/bundle/pack.ts';
import { readPlainFile } from '../../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';

export interface ReadBundle {
  readonly files: BundleFiles;
  readonly problems: readonly { readonly code: string; readonly shortMessage: string }[];
}

/**
 * Bytes. The longest run with the longest transcript takes half of that; a larger file is not a bundle of
 * ours, and would only fill the memory.
 */
export const MAX_BUNDLE_BYTES = 64 * 1024 * 1024;

/** Reads a bundle from its tar (`bytes`) or from the folder it was unpacked into. Trusts nothing in it. */
export async function readBundle(path: string, bytes: Buffer | undefined): Promise<ReadBundle> {
  if (bytes === undefined) return readFolder(path);
  const { files, sound } = unpackFiles(bytes);
  if (sound) return { files, problems: [] };
  const shortMessage = 'the tar is not as lifeboat wrote it; unpack it and verify the folder';
  return { files, problems: [{ code: 'bundle.damaged', shortMessage }] };
}

function readFolder(folder: string): ReadBundle {
  const files = new Map<string, Buffer>();
  const problems: { code: string; shortMessage: string }[] = [];
  let total = 0;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(folder, name);
    const stat = lstatSync(path);
    if (stat.isDirectory()) continue;
    const shown = name.replaceAll('\\', '/');
    if (!stat.isFile()) {
      problems.push({ code: 'file.extra', shortMessage: `${show(shown, 120)} is not a file` });
      continue;
    }
    total += stat.size;
    if (total > MAX_BUNDLE_BYTES) throw tooLarge(folder);
    files.set(shown, readPlainFile(path, MAX_BUNDLE_BYTES));
  }
  return { files, problems };
}

function tooLarge(folder: string): LifeboatError {
  return new LifeboatError('input.file', `${show(folder, 200)} is too large for a bundle`, {
    hints: ['name the folder that the bundle was unpacked into, with nothing else in it'],
    exitCode: EXIT.usage,
  });
}
