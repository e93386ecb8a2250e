import process from 'node:process';
import { createBossQueue } from '../../src/queue/boss.ts';

/* A worker that begins to look at runs and never ends: `worker-process.ts ADDRESS`. Prints each run. */
const [address = ''] = process.argv.slice(2);
const queue = createBossQueue({ address, env: process.env, report: () => undefined });
const look = async (run: string) => {
  process.stdout.write(`${run}\n`);
  await new Promise(() => {});
};
await queue.work({ look, due: async () => {} }, { concurrency: 4, label: 'doomed' });
