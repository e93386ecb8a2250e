import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getRawAsset, isSea } from 'node:sea';
import { packageRoot } from './package-root.ts';

/**
 * A file that ships with this program, by its path in the package; a single executable holds it itself. Do
 * not write to the bytes: of a single executable they are its own memory. Throws when there is none.
 */
export function ownFile(path: string): Buffer {
  return isSea() ? Buffer.from(getRawAsset(path)) : readFileSync(join(packageRoot(), path));
}
