import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { drawAtOnce } from '../../build/plugins.ts';

/** Bundles a program that draws with Ink, as the product is bundled, into a folder; gives its path. */
export async function bundleScreen(entry: string, folder: string): Promise<string> {
  await build({
    entryPoints: [entry],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    plugins: [drawAtOnce],
    define: { 'process.env.NODE_ENV': '"production"' },
    banner: {
      js: "import{createRequire as nodeRequire}from'node:module';const require=nodeRequire(import.meta.url);",
    },
    logLevel: 'error',
  });
  return join(folder, basename(entry).replace(/\.tsx?$/u, '.mjs'));
}
