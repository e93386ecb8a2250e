import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The folder that a file of this program is installed in: the nearest one above it with a package.json, or
 * the root folder. Bundled or not, it is the same.
 */
export function packageRoot(file: string = import.meta.filename): string {
  let folder = dirname(file);
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
