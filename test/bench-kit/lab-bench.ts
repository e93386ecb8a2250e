import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import type { Query } from '../../src/lab/engine/engine.ts';
import { type Lab, type LabOptions, startLab } from '../../src/lab/lab.ts';
import type { Entry } from '../../src/store/journal.ts';
import { PROJECTIONS } from '../../src/store/projections/all.ts';
import { openSqliteForReading } from '../../src/store/sqlite/open.ts';
import { builtProduct, type Ended, type Product, type Running, runProduct } from './product.ts';

/** A lab with applications, and somebody's machine that has its config and its keys. */
export interface LabBench {
  readonly lab: Lab;
  readonly env: Readonly<Record<string, string>>;
  readonly home: string;
  readonly product: Product;
  start(...args: string[]): Running;
  run(...args: string[]): Promise<Ended>;
  /** Runs a command that has to end with 0, and gives what it wrote to stdout. */
  good(...args: string[]): Promise<string>;
  query(instance: string): Query;
  /** Mutating calls that the service carried out: `orders POST /backups`. */
  did(): readonly string[];
  /** Entries of one stream, or of all runs. */
  entries(stream: 'runs' | `instance/${string}`): Promise<readonly Entry[]>;
}

export interface LabBenchOptions extends Omit<LabOptions, 'queryCommand'> {
  /** Changes the config that the lab wrote. */
  readonly config?: (yaml: string) => string;
}

/**
 * Gives every test of a file labs with the same copy of the product; they are gone when the test has
 * finished.
 */
export function useLabs(): (
  context: Pick<TestContext, 'onTestFinished'>,
  options?: LabBenchOptions,
) => Promise<LabBench> {
  const product = builtProduct({ cheapVault: true });
  return (context, options) => openLabBench(product, context, options);
}

async function openLabBench(
  product: Product,
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  { config = (yaml) => yaml, ...options }: LabBenchOptions = {},
): Promise<LabBench> {
  const query = (instance: string, folder: string) =>
    `'${process.execPath}' '${product.cli}' lab-query ${instance} --folder '${folder}'`;
  const lab = await startLab({ fsync: false, ...options, queryCommand: query });
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-lab-'));
  const running: Running[] = [];
  onTestFinished(async () => {
    for (const { child } of running) child.kill('SIGKILL');
    await Promise.all(running.map(({ ended }) => ended));
    await lab.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const home = join(folder, 'home');
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(join(folder, 'passphrase'), 'four words of mine', { mode: 0o600 });
  writeFileSync(join(folder, 'lifeboat.yaml'), config(lab.configYaml));
  const env = {
    HOME: folder,
    TMPDIR: tmpdir(),
    LIFEBOAT_HOME: home,
    LIFEBOAT_CONFIG: join(folder, 'lifeboat.yaml'),
    LIFEBOAT_KEYCHAIN: 'vault',
    LIFEBOAT_PASSPHRASE_FILE: join(folder, 'passphrase'),
  };
  const start = (...args: string[]) => {
    const started = runProduct(product, args, env);
    running.push(started);
    return started;
  };
  const run = (...args: string[]) => start(...args).ended;
  const good = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args);
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  };
  for (const { name, keyFile } of lab.instances)
    if (keyFile !== undefined) await good('keys', 'add', name, '--file', keyFile);
  return {
    lab,
    env,
    home,
    product,
    start,
    run,
    good,
    query: (name) => {
      const found = lab.instances.find((instance) => instance.name === name);
      if (found === undefined) throw new Error(`the lab has no instance ${name}`);
      return found.query;
    },
    did: () => lab.calls().map(({ instance, endpoint }) => `${instance} ${endpoint}`),
    entries: (stream) => readEntries(home, stream),
  };
}

async function readEntries(home: string, stream: 'runs' | `instance/${string}`): Promise<readonly Entry[]> {
  const journal = await openSqliteForReading({ home, projections: PROJECTIONS });
  try {
    if (stream !== 'runs') return await journal.read(stream as `instance/${string}`);
    const streams = await journal.streams('run/');
    return (await Promise.all(streams.map((head) => journal.read(head.stream)))).flat();
  } finally {
    await journal.close();
  }
}
