import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { openReaderOf } from '../../src/compose/store-of.ts';
import type { Entry } from '../../src/store/journal.ts';
import { type Ended, type Product, type Running, runProduct } from './product.ts';
import { runProductHere } from './product-here.ts';

/** A person's machine: a folder with everything of theirs, and the product. */
export interface Machine {
  /** What the commands run. */
  readonly product: Product;
  readonly folder: string;
  readonly home: string;
  /** Of what is started from now on. */
  readonly env: Record<string, string>;
  /** Starts a command. */
  start(...args: string[]): Running;
  /** Starts a command below another program, such as a tracer. */
  startUnder(under: readonly string[], ...args: string[]): Running;
  /**
   * Runs a command to its end without a process of its own: for what it says, gives and does, where neither a
   * signal, a terminal nor the end of a process is the promise.
   */
  here(...args: string[]): Promise<Ended>;
  /** Runs a command to its end, in a process of its own unless the machine was opened with `commandsHere`. */
  run(...args: string[]): Promise<Ended>;
  /** Runs a command that has to end with 0, and gives what it wrote to stdout. */
  good(...args: string[]): Promise<string>;
  /** What is in the store: all of it, the streams below a prefix such as `run/`, or one stream. */
  entries(of?: string): Promise<readonly Entry[]>;
  /** Ends all that was started here. */
  end(): Promise<void>;
  /** Does that, too, and removes the folder. */
  close(): Promise<void>;
}

/** What makes a machine ready for the first command. */
export interface Belongings {
  /** The text of `lifeboat.yaml`. */
  readonly config: string;
  /** Of the vault. */
  readonly passphrase: string;
  /** More files that only their owner may read, by name. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

export interface MachineOptions {
  /** Whether `run` and `good` are as `here`. `start` still makes a process. */
  readonly commandsHere?: boolean;
}

/**
 * A machine on which nothing of this program has ever been. With a context it is gone when the test is, with
 * all that was started on it.
 */
export function openMachine(
  product: Product,
  context?: Pick<TestContext, 'onTestFinished'>,
  { commandsHere = false }: MachineOptions = {},
): Machine {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-e2e-'));
  const home = join(folder, 'home');
  const env: Record<string, string> = { HOME: folder, LIFEBOAT_HOME: home };
  const running: Running[] = [];
  const startUnder = (under: readonly string[], ...args: string[]) => {
    const started = runProduct(product, args, env, under);
    running.push(started);
    return started;
  };
  const start = (...args: string[]) => startUnder([], ...args);
  const here = (...args: string[]) => runProductHere(product, args, env);
  const run = commandsHere ? here : (...args: string[]) => start(...args).ended;
  const end = async () => {
    for (const { child } of running) child.kill('SIGKILL');
    await Promise.all(running.map(({ ended }) => ended));
  };
  const close = async () => {
    await end();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  context?.onTestFinished(close);
  return {
    product,
    folder,
    home,
    env,
    start,
    startUnder,
    here,
    run,
    good: async (...args) => {
      const { code, stdout, stderr } = await run(...args);
      if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
      return stdout;
    },
    entries: (of) => readEntries(env, of),
    end,
    close,
  };
}

/** Makes an empty home, writes the config and the secrets, and has every command find them. */
export function furnish({ folder, home, env }: Machine, belongings: Belongings): void {
  const { config, passphrase, files = {} } = belongings;
  mkdirSync(home, { mode: 0o700 });
  for (const [name, text] of Object.entries({ ...files, passphrase }))
    writeFileSync(join(folder, name), text, { mode: 0o600 });
  writeFileSync(join(folder, 'lifeboat.yaml'), config);
  Object.assign(env, {
    TMPDIR: tmpdir(),
    LIFEBOAT_CONFIG: join(folder, 'lifeboat.yaml'),
    LIFEBOAT_KEYCHAIN: 'vault',
    LIFEBOAT_PASSPHRASE_FILE: join(folder, 'passphrase'),
    ...belongings.env,
  });
}

async function readEntries(env: NodeJS.ProcessEnv, of = ''): Promise<readonly Entry[]> {
  const journal = await openReaderOf({ env });
  try {
    const streams = (await journal.streams()).map(({ stream }) => stream);
    const isMeant = (stream: string) =>
      stream === of || of === '' || (of.endsWith('/') && stream.startsWith(of));
    return (await Promise.all(streams.filter(isMeant).map((stream) => journal.read(stream)))).flat();
  } finally {
    await journal.close();
  }
}
