import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type SeenProcess, watchTree } from '../bench-kit/process-tree.ts';
import type { Ended, Running } from '../bench-kit/product.ts';
import { leaksInFolder, leaksInProcesses } from '../e2e/leaks.ts';
import { piecesIn } from './pieces.ts';

/** Where commands are run: a person's machine. */
export interface Place {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  start(...args: string[]): Running;
}

/** Runs a command and looks at everything that it starts; `hears` takes what was said elsewhere. */
export type Watched = ((...args: string[]) => Promise<Ended>) & { readonly hears: (text: string) => void };

/** What was found, and how much was looked at. */
export interface Sight {
  readonly found: readonly string[];
  readonly looks: number;
}

/**
 * Samples what is started, and looks at the end at all output and into these folders of the place. `known`
 * are secrets from the beginning; more may be added until then. `held` gives those that are known at the end
 * alone.
 */
export async function watchOver(
  place: Place,
  { known, held, folders }: Looking,
  work: (watched: Watched) => Promise<void>,
): Promise<Sight> {
  const temporary = join(place.folder, 'tmp');
  mkdirSync(temporary, { recursive: true });
  Object.assign(place.env, { TMPDIR: temporary });
  const said: string[] = [];
  const seen: { readonly about: string; readonly processes: Parameters<typeof leaksInProcesses>[0] }[] = [];
  const watched = async (...args: string[]) => {
    const out = join(temporary, `output-${said.length}`);
    const places: Readonly<Record<string, string>> = { OUT: out, BUNDLE: join(temporary, 'bundle.tar') };
    const running = place.start(...args.map((word) => places[word] ?? word));
    const watch = watchTree(running.child.pid ?? 0);
    const end = await running.ended;
    watch.stop();
    said.push(end.stdout, end.stderr);
    const own = running.child.pid;
    // A program that is just being loaded has an environment and no arguments yet.
    const isLoading = (one: SeenProcess) => one.pid === own && one.cmdline === '';
    const mine = watch.seen().find((one) => one.pid === own && !isLoading(one))?.cmdline;
    // Its own environment is what it was given, and for a moment that of a child which is not another program
    // yet; of what it starts, nothing may have the token.
    const isOwn = (one: SeenProcess) => one.cmdline === mine || isLoading(one);
    const others = watch.seen().map((one) => (isOwn(one) ? { ...one, environ: '' } : one));
    seen.push({ about: args.join(' '), processes: others });
    return end;
  };
  await work(Object.assign(watched, { hears: (text: string) => void said.push(text) }));
  const all = [...new Set([...known, ...(await held())])];
  const found = seen.flatMap(({ about, processes }) =>
    leaksInProcesses(processes, all).map((leak) => `${about}: ${leak}`),
  );
  found.push(...piecesIn('the output', said.join('\n'), all));
  const paths = ['tmp', 'compiled', ...folders].map((name) => join(place.folder, name));
  for (const path of paths.filter(existsSync)) found.push(...leaksInFolder(path, all));
  const processes = seen.reduce((sum, one) => sum + new Set(one.processes.map(({ pid }) => pid)).size, 0);
  return { found, looks: said.length + processes };
}

interface Looking {
  readonly known: readonly string[];
  readonly held: () => Promise<readonly string[]>;
  /** Below the folder of the place, besides those for temporary files and compiled code. */
  readonly folders: readonly string[];
}
