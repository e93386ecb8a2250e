import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildProse, builtFile } from '../src/compose/built-prose.ts';
import { ROOT } from './bundles.ts';

/**
 * Reads what the runbooks say, and writes it below a folder. Gives the files that it wrote by their path in
 * the package.
 */
export function writeProse(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(join(ROOT, 'runbooks'));
  return Object.fromEntries(
    names.map((name) => {
      const path = join(folder, builtFile(name));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, buildProse(readFileSync(join(ROOT, 'runbooks', name), 'utf8')));
      return [builtFile(name), path];
    }),
  );
}
