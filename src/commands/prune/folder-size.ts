import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Bytes of all files below a folder; links are not followed. What cannot be read counts nothing. */
export function folderSize(folder: string): number {
  try {
    return readdirSync(folder).reduce((sum, name) => {
      const path = join(folder, name);
      const found = lstatSync(path);
      return sum + (found.isDirectory() ? folderSize(path) : found.isFile() ? found.size : 0);
    }, 0);
  } catch {
    return 0;
  }
}
