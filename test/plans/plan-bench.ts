import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '../../src/base/secret.ts';
import type { Call, Trouble } from '../bench-kit/foreign/call.ts';
import { openKeys } from '../bench-kit/key-store.ts';
import type { BenchOptions, TestBench } from '../bench-kit/test-bench.ts';
import { mostAtWork } from './most-at-work.ts';

/** A service with instances `db-1`, `db-2` and so on, each with its empty target `db-1-dr`. */
export interface PlanBench extends TestBench {
  /** Writes `plans/NAME.yaml` beside the config. */
  plan(name: string, groups: string): void;
  /** How often each target was told to recover a backup, by name. */
  performed(): Readonly<Record<string, number>>;
  /** The most children of each group that were at work at once, by the journal. */
  mostAtWork(): Promise<Readonly<Record<string, number>>>;
}

const KEY = (name: string) => `a-key-of-${name}-that-nobody-guesses`;

/**
 * Opens it, with a recovery card for each source. `count` instances; `trouble` begins once all of that is
 * done.
 */
export async function openPlanBench(
  open: (bench: BenchOptions) => Promise<TestBench>,
  count: number,
  options: Omit<BenchOptions, 'instances'> = {},
): Promise<PlanBench> {
  const names = Array.from({ length: count }, (_, at) => `db-${at + 1}`);
  let trouble: BenchOptions['trouble'];
  const bench = await open({
    inFlight: '1s',
    taskMs: 20,
    ...options,
    instances: [
      ...names.map((name) => ({ name, key: KEY(name), backups: 1 })),
      ...names.map((name) => ({ name: `${name}-dr`, key: KEY(`${name}-dr`) })),
    ],
    trouble: async (call: Call): Promise<Trouble | undefined> => trouble?.(call),
  });
  const config = join(bench.folder, 'lifeboat.yaml');
  writeFileSync(
    config,
    readFileSync(config, 'utf8').replaceAll(/^( {2}\S+-dr:)$/gmu, '$1\n    role: target'),
  );
  const keyring = await openKeys(bench.home);
  await keyring.signingKey();
  for (const name of names.flatMap((one) => [one, `${one}-dr`]))
    await keyring.add(name, new Secret(KEY(name)));
  for (const name of names) await bench.good('run', 'disaster-recovery', name, '--prepare', '--yes');
  const from = bench.server.calls.length;
  trouble = options.trouble;
  const done = (name: string) =>
    bench.server.calls
      .slice(from)
      .filter((call) => isPerform(call) && call.did && call.instance === `${name}-dr`).length;
  return {
    ...bench,
    plan: (name, groups) => {
      mkdirSync(join(bench.folder, 'plans'), { recursive: true });
      writeFileSync(join(bench.folder, 'plans', `${name}.yaml`), `plan: ${name}\n${groups}`);
    },
    performed: () => Object.fromEntries(names.map((name) => [`${name}-dr`, done(name)])),
    mostAtWork: async () => mostAtWork(await bench.entries()),
  };
}

export function isPerform({ method, path }: Pick<Call, 'method' | 'path'>): boolean {
  return method === 'POST' && path.endsWith('/disaster-recovery/perform');
}

/** The backup that each recovery makes of what it has restored fails: nothing ends such a run any more. */
export function noFreshBackup(call: Call): Trouble | undefined {
  const isBackup = call.method === 'POST' && call.path.endsWith('/backups') && !isPerform(call);
  return isBackup ? { task: { fails: true } } : undefined;
}
