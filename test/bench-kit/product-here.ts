import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Script, constants as vmConstants } from 'node:vm';
import type { main } from '../../src/cli/main.ts';
import { type Listening, ownListening } from './own-listening.ts';
import { type Ended, endedAs, type Product, scriptIn, surroundings } from './product.ts';

type Bundle = (
  exports: object,
  require: (id: string) => unknown,
  module: { readonly exports: { readonly main?: typeof main } },
  filename: string,
  dirname: string,
  volume: (name: string) => (shared: object) => unknown,
  process: NodeJS.Process,
  abortSignal: typeof AbortSignal,
) => void;

const compiled = new Map<string, unknown>();

/**
 * Runs one command line of the product to its end without a process of its own, which is two thirds of the
 * time of a short command. The commands are those of the build, and each is loaded again, so that it finds
 * nothing that another one left in a variable; arguments, environment, streams and signals are its own, too.
 * Not so what `src/cli/start.ts` does before the commands are loaded and after they are done: whatever is
 * promised of a process, a terminal or a signal needs `runProduct`.
 */
export async function runProductHere(
  product: Product,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Ended> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const said = Promise.all([text(stdout), text(stderr)]);
  const left = Promise.withResolvers<number>();
  const own = ownProcess([product.cli, ...args], {
    stdin: Readable.from([]),
    stdout,
    stderr,
    env: { ...surroundings(product), ...env },
    exit: (code: number) => {
      left.resolve(code);
      throw new Error('the process has ended');
    },
  });
  const listening = ownListening();
  try {
    const command = commandsOf(product, own, listening)(args, '0.0.0', {});
    const code = await Promise.race([command, left.promise]);
    for (const stream of [stdout, stderr]) stream.end();
    return endedAs(code, ...(await said));
  } finally {
    listening.leave();
  }
}

/** What the commands see as their process: the real one, but for what belongs to a command. */
function ownProcess(argv: readonly string[], parts: object): NodeJS.Process {
  const signals = new EventEmitter();
  const listeners = Object.fromEntries(
    (['on', 'once', 'off', 'addListener', 'removeListener', 'listenerCount', 'emit'] as const).map((name) => [
      name,
      signals[name].bind(signals),
    ]),
  );
  const own = { ...listeners, ...parts, argv: [process.execPath, ...argv] };
  return Object.create(process, Object.getOwnPropertyDescriptors(own)) as NodeJS.Process;
}

function commandsOf({ folder }: Product, own: NodeJS.Process, listening: Listening): typeof main {
  const file = join(folder, 'main.cjs');
  const bundle = compiledOf(file, 'dirname,volume){', 'dirname,volume,process,AbortSignal){') as Bundle;
  const load = createRequire(file);
  const module: { readonly exports: { readonly main?: typeof main } } = { exports: {} };
  const owned = new Map<string, unknown>([
    ['process', own],
    ['diagnostics_channel', listening.channels],
  ]);
  const require = (id: string) => owned.get(id.replace(/^node:/u, '')) ?? (load(id) as unknown);
  const volume = (name: string) => {
    const text = compiledOf(join(folder, `${name}.cjs`), '(function({', '(function({process,AbortSignal,');
    return (shared: object) =>
      (text as (given: object) => unknown)({ ...shared, process: own, AbortSignal: listening.AbortSignal });
  };
  bundle(module.exports, require, module, file, folder, volume, own, listening.AbortSignal);
  if (module.exports.main === undefined) throw new Error(`${file} has no commands`);
  return module.exports.main;
}

/** As `openBundle` has it; what is a command's own are parameters more, which stand `into` its head. */
function compiledOf(file: string, head: string, into: string): unknown {
  const known = compiled.get(file);
  if (known !== undefined) return known;
  const source = scriptIn(file);
  const asked = source.replace(head, into);
  if (asked === source) throw new Error(`${file} does not begin as the build makes it`);
  const importModuleDynamically = vmConstants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  const made: unknown = new Script(asked, { filename: file, importModuleDynamically }).runInThisContext();
  compiled.set(file, made);
  return made;
}
