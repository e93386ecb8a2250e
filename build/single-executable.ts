import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import type { Plugin } from 'esbuild';
import { bundleCommands, bundleSingleStart, ROOT } from './bundles.ts';
import { noticesOf, packagesOf } from './licenses.ts';
import { writeProse } from './prose.ts';

/** Files of the package that the program reads, and a single executable holds. */
const ASSETS = ['src/audit/bundle/verify.mjs', ...readdirSync(join(ROOT, 'runbooks')).map(runbook)];

const POSTJECT = createRequire(import.meta.url).resolve('postject/dist/cli.js');

/** Node looks for what was put into it by this mark. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

const MACHO = process.platform === 'darwin' ? ['--macho-segment-name', 'NODE_SEA'] : [];

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/**
 * Makes, in the new folder `out`, what a machine without Node needs: `lifeboat`, a copy of the Node that runs
 * this with all of the product inside; `keytar.node` beside it, for the keychain; `completions`; and
 * `THIRD-PARTY-LICENSES` of everything in there. It is for the platform that it is made on. Nothing is
 * fetched.
 */
export async function makeSingleExecutable(out: string): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'lifeboat-single-'));
  try {
    mkdirSync(out, { recursive: true });
    const inputs = await bundle(work);
    const program = join(out, 'lifeboat');
    copyFileSync(process.execPath, program);
    chmodSync(program, 0o755);
    makeReady(program);
    const blob = blobOf(work);
    run(process.execPath, POSTJECT, program, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE, ...MACHO);
    if (process.platform === 'darwin') run('codesign', '--sign', '-', program);
    copyFileSync(keytarBinary(), join(out, 'keytar.node'));
    chmodSync(join(out, 'keytar.node'), 0o644);
    mkdirSync(join(out, 'completions'));
    for (const shell of SHELLS)
      writeFileSync(join(out, 'completions', `lifeboat.${shell}`), run(program, 'completion', shell));
    // The keychain's binary is compiled with these headers.
    const all = [...inputs, 'node_modules/node-addon-api/napi.h'];
    writeFileSync(join(out, 'THIRD-PARTY-LICENSES'), `${noticesOf(ROOT, all)}\n${nodeNotice()}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Bundles into the folder `work` what `blobOf` packs. */
async function bundle(work: string): Promise<readonly string[]> {
  const commands = join(work, 'commands');
  mkdirSync(commands);
  const main = await bundleCommands(commands, [keytarBeside]);
  const start = await bundleSingleStart(join(work, 'start.cjs'), main.stamp);
  const inputs = [...main.inputs, ...start.inputs];
  writeFileSync(join(work, 'packages.json'), JSON.stringify(packagesOf(ROOT, inputs)));
  return inputs;
}

/** keytar's own script, bundled, which loads the binary beside the executable and no other. */
const keytarBeside: Plugin = {
  name: 'keytar-beside',
  setup({ onResolve, onLoad }) {
    const script = join(ROOT, 'node_modules/keytar/lib/keytar.js');
    onResolve({ filter: /^keytar$/ }, () => ({ path: script }));
    onLoad({ filter: /[\\/]keytar[\\/]lib[\\/]keytar\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const paths = /var paths = \[.*\];/;
      if (!paths.test(text)) throw new Error('keytar looks for its binary in another way');
      return { contents: text.replace(paths, `var paths = ['.'];`) };
    });
  },
};

/** Packs start script, all commands and the files that they read. Gives the path. */
function blobOf(work: string): string {
  const config = join(work, 'sea.json');
  const output = join(work, 'blob');
  const commands = join(work, 'commands');
  const assets = {
    ...Object.fromEntries(readdirSync(commands).map((name) => [`dist/${name}`, join(commands, name)])),
    'dist/packages.json': join(work, 'packages.json'),
    ...writeProse(work),
    ...Object.fromEntries(ASSETS.map((path) => [path, join(ROOT, path)])),
  };
  const main = join(work, 'start.cjs');
  const options = { disableExperimentalSEAWarning: true, useCodeCache: true };
  writeFileSync(config, JSON.stringify({ main, output, assets, ...options }));
  run(process.execPath, '--experimental-sea-config', config);
  return output;
}

/** Nobody debugs the Node in there, and a signature covers what is about to change. */
function makeReady(program: string): void {
  if (process.platform === 'darwin') run('codesign', '--remove-signature', program);
  else run('strip', '--strip-all', program);
}

function keytarBinary(): string {
  const path = join(ROOT, `node_modules/keytar/prebuilds/${process.platform}-${process.arch}/keytar.node`);
  if (!existsSync(path)) throw new Error(`keytar has no binary for ${process.platform}-${process.arch}`);
  return path;
}

function nodeNotice(): string {
  const file = join(dirname(process.execPath), '../LICENSE');
  if (!existsSync(file)) throw new Error(`this Node came without its licence: there is no ${file}`);
  return `${'-'.repeat(80)}\n\nNode.js ${process.versions.node}\n\n${readFileSync(file, 'utf8')}`;
}

function runbook(name: string): string {
  return `runbooks/${name}`;
}

/** Gives what it prints. What it complains of is told when it fails. */
function run(program: string, ...words: readonly string[]): Buffer {
  return execFileSync(program, words, { stdio: ['ignore', 'pipe', 'pipe'] });
}
