import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type TestContext } from 'vitest';
import type { Call, Trouble } from '../bench-kit/foreign/call.ts';
import type { Running } from '../bench-kit/product.ts';
import { useQuickBenches } from '../bench-kit/test-bench.ts';
import { closeDatabases, freshDatabase } from '../crash/database.ts';
import { openPlanBench, type PlanBench } from '../plans/plan-bench.ts';

/** A group of a plan: each instance is recovered into its target, at most three at once. */
export const GROUP = `groups:
  - id: data
    for: { name: "db-*", target: "{name}-dr" }
    waves: [1, "100%"]
    maxConcurrency: 3
    steps: [{ id: recover, runbook: disaster-recovery, undo: none; the source stays }]
`;

/** For a poll that runs a command each time: without a pause it takes the core that the workers need. */
export const PATIENTLY = { timeout: 300_000, interval: 500 };

/** The stores that workers are tried on. */
export const STORES = (process.env['STORE'] ?? 'sqlite,postgres').split(',');

/** What `plans show --json` says. */
interface Shown {
  readonly status: string;
  readonly lanes: readonly {
    readonly state: string;
    readonly runId?: string;
    readonly left?: readonly { readonly runId: string; readonly asks?: string }[];
  }[];
}

/** For the tests of a file: a service with instances, and workers on this store. */
export function useWorkers(store: string) {
  const bench = useQuickBenches();
  return {
    /** The store is gone when the test has finished. `config` is further lines of it. */
    async opened(
      context: TestContext,
      count: number,
      trouble?: (call: Call) => Trouble | undefined | Promise<undefined>,
      config = '',
    ): Promise<PlanBench> {
      const database = store === 'postgres' ? await freshDatabase() : undefined;
      context.onTestFinished(async () => {
        await database?.drop();
        if (store === 'postgres') await closeDatabases();
      });
      const made = await openPlanBench((options) => bench(context, options), count, {
        ...(trouble === undefined ? {} : { trouble }),
        ...(database === undefined ? {} : { store: database.address }),
      });
      if (config !== '') appendFileSync(join(made.folder, 'lifeboat.yaml'), `${config}\n`);
      if (store === 'postgres') await made.good('store', 'init');
      return made;
    },

    /** One that has said that it takes runs. */
    async worker({ start }: PlanBench, ...words: readonly string[]): Promise<Running> {
      const running = start('worker', ...words);
      await expect.poll(() => running.stderr()).toContain('takes runs');
      return running;
    },

    async stopped({ child, ended }: Running): Promise<void> {
      child.kill('SIGTERM');
      expect((await ended).code).toBe(0);
    },

    async lanes({ good }: PlanBench): Promise<Shown> {
      return JSON.parse(await good('plans', 'show', 'last', '--json'));
    },
  };
}
