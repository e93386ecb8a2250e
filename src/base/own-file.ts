import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getRawAsset, isSea } from 'node:sea';

/**
 * A file that ships with this program, by its path in the package; a single executable holds it itself. Do
 * not write to the bytes: of a single executable they are its own memory. Throws when there is none.
 */
export function ownFile(path: string): Buffer {
  return isSea() ? Buffer.from(getRawAsset(path)) : readFileSync(join(packageRoot(), path));
}

/**
 * The folder that a file of this program is installed in: the nearest one above it with a package.json, or
 * the root folder. Bundled or not, it is the same.
 */
export function packageRoot(file: string = import.meta.filename): string {
  let folder = dirname(file);
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
