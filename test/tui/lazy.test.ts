import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { drawAtOnce } from '../../build/drawing.ts';

/**
 * The modules that come with an entry when it is loaded, and those that come later, when they are asked for.
 */
async function loadedBy(entry: string) {
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    outdir: 'out',
    write: false,
    metafile: true,
    packages: 'bundle',
    plugins: [drawAtOnce],
    logLevel: 'error',
  });
  const { outputs } = metafile;
  const first = Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === entry);
  const reached = new Set(first);
  for (const path of reached) {
    for (const { path: next, kind } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && outputs[next] !== undefined) reached.add(next);
  }
  const inputsOf = (paths: readonly string[]) =>
    paths.flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}));
  return {
    atOnce: inputsOf([...reached]),
    later: inputsOf(Object.keys(outputs).filter((path) => !reached.has(path))),
  };
}

it.each(['src/tui/show-run.ts', 'src/tui/first-frame.ts', 'src/plain/show-run-plainly.ts'])(
  '%s loads the parser of dates only when a time has been typed',
  async (entry) => {
    const { atOnce, later } = await loadedBy(entry);
    const isParser = (path: string) => path.includes('chrono-node');
    expect(atOnce).toContain(entry);
    expect(atOnce.filter(isParser)).toEqual([]);
    expect(later.some(isParser)).toBe(entry !== 'src/tui/first-frame.ts');
  },
);
