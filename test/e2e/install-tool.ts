import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import process from 'node:process';
import { transformSync } from 'esbuild';

/**
 * Puts a program into a folder of programs, from a TypeScript file that imports nothing of ours. The types
 * are removed here, once: Node would load its TypeScript reader again at every call, which is two thirds of
 * what a call costs.
 */
export function installTool(bin: string, name: string, source: string): void {
  const script = join(bin, `${basename(source, '.ts')}.mjs`);
  writeFileSync(script, transformSync(readFileSync(source, 'utf8'), { loader: 'ts', target: 'node24' }).code);
  writeFileSync(join(bin, name), `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`, { mode: 0o755 });
}
