import { basename, join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { drawAtOnce, drawFromMemory } from '../../build/drawing.ts';
import { startLazily } from '../../build/plugins.ts';

/** Ink as it is, but for what a bundle cannot wait for. */
export const BARE_INK: readonly Plugin[] = [drawAtOnce];

/**
 * Bundles a program that draws with Ink into a folder, as the product is bundled if not said otherwise; gives
 * its path.
 */
export async function bundleScreen(
  entry: string,
  folder: string,
  plugins: readonly Plugin[] = [drawAtOnce, drawFromMemory, startLazily],
): Promise<string> {
  await build({
    entryPoints: [entry],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    plugins: [...plugins],
    define: { 'process.env.NODE_ENV': '"production"' },
    banner: {
      js: "import{createRequire as nodeRequire}from'node:module';const require=nodeRequire(import.meta.url);",
    },
    logLevel: 'error',
  });
  return join(folder, basename(entry).replace(/\.tsx?$/u, '.mjs'));
}
