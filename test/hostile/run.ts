import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { FIGURES_FILE, summary } from './figures.ts';

/*
 * Runs every test of hostile texts, hostile sizes and secrets, the long ones too, and prints how much was
 * tried. Words on the command line are handed on to Vitest. Exit 0 when all is well.
 */

const ROOT = resolve(import.meta.dirname, '../..');
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs');
const folder = mkdtempSync(join(tmpdir(), 'lifeboat-figures-'));
const file = join(folder, 'figures.jsonl');
writeFileSync(file, '');
try {
  let failed = false;
  for (const config of ['test/vitest.config.ts', 'test/vitest.long.config.ts']) {
    const args = [
      VITEST,
      'run',
      '--config',
      config,
      '--root',
      ROOT,
      'test/hostile',
      ...process.argv.slice(2),
    ];
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      env: { ...process.env, [FIGURES_FILE]: file },
      stdio: 'inherit',
    });
    const [code] = await once(child, 'exit');
    failed ||= code !== 0;
  }
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  process.stdout.write(`${summary(lines).join('\n')}\n`);
  process.exitCode = failed ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
