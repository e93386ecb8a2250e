import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Puts a folder that was built in the place of an older one, whole or not at all: commands that run meanwhile
 * find the one or the other. Where both have the same files the older one stays, so that a process that loads
 * a part later still finds its own. What dies inside leaves `older` beside the place, or the place as it was.
 */
export function putInPlace(built: string, place: string): void {
  if (existsSync(place) && isSame(built, place)) {
    rmSync(built, { recursive: true });
    return;
  }
  const older = `${built}.older`;
  if (existsSync(place)) renameSync(place, older);
  renameSync(built, place);
  rmSync(older, { recursive: true, force: true });
}

function isSame(one: string, other: string): boolean {
  const files = filesIn(one);
  return (
    files.join('\n') === filesIn(other).join('\n') &&
    files.every((file) => readFileSync(join(one, file)).equals(readFileSync(join(other, file))))
  );
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}
