import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { ROOT } from './source-files.ts';

/**
 * Asks the linter, with the configuration of this project, which of its targets a file at each of the places
 * may not import. Gives `place -> target` with the linter's sentence. Nothing is written into the project.
 */
export function refusedByLinter(
  targetsOf: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, string> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'lifeboat-linter-')));
  try {
    for (const name of ['.biome.json', '.biome.rooms.json'])
      copyFileSync(join(ROOT, name), join(folder, name));
    for (const [place, targets] of targetsOf) {
      mkdirSync(join(folder, dirname(place)), { recursive: true });
      const lines = targets.map((target) => `export * from '${specifier(place, target)}';`);
      writeFileSync(join(folder, place), lines.join('\n'));
    }
    return refusals(folder, targetsOf);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function refusals(folder: string, targetsOf: ReadonlyMap<string, readonly string[]>): Map<string, string> {
  const { stdout, error } = spawnSync(
    join(ROOT, 'node_modules', '.bin', 'biome'),
    [
      ...['lint', '.', '--vcs-enabled=false', '--only=style/noRestrictedImports'],
      ...['--max-diagnostics=none', '--reporter=github'],
    ],
    { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  if (error !== undefined) throw error;
  const lines = stdout.matchAll(/file=([^,]+),line=(\d+),.*?::(.*)$/gm);
  return new Map(
    Array.from(lines, ([, file = '', line = '', sentence = '']) => {
      const place = relative(folder, file);
      return [`${place} -> ${targetsOf.get(place)?.[Number(line) - 1]}`, sentence];
    }),
  );
}

function specifier(from: string, target: string): string {
  if (!/\.tsx?$/.test(target)) return target;
  const path = relative(dirname(from), target);
  return path.startsWith('.') ? path : `./${path}`;
}
