import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where a shell with this PATH finds a program; undefined where it does not. */
export function onPath(program: string, { PATH = '' }: NodeJS.ProcessEnv): string | undefined {
  const places = PATH.split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, program));
  return places.find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
