import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { startCluster } from '../bench-kit/postgres.ts';
import { until } from '../bench-kit/until.ts';
import { freshBoss } from './boss-under-test.ts';
import { recorder } from './queue-under-test.ts';

/* What becomes of the runs of a worker that dies, or stands still. */
const cluster = await startCluster();
afterAll(() => cluster.remove());

/** A worker of another process that looks at a run, and would for ever. */
async function doomed(address: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'worker-process.ts'), address]);
  onTestFinished(() => void child.kill('SIGKILL'));
  let isLooking = false;
  child.stdout.on('data', () => {
    isLooking = true;
  });
  await until(() => isLooking);
  return child;
}

describe.each(['SIGKILL', 'SIGSTOP'] as const)('the runs of a worker that got %s', (signal) => {
  test('go to another, and the board says that it is gone', async () => {
    const { queues, address } = await freshBoss(cluster);
    const [queue] = queues;
    const seen = recorder();
    await queue.wake(['one']);
    const child = await doomed(address);
    void queue.work(seen.handlers, { concurrency: 1, label: 'other' });
    child.kill(signal);
    await until(() => seen.ended.length === 1);
    expect(seen.looked).toEqual(['one']);
    await until(async () => (await queue.workers()).some(({ state }) => state === 'gone'));
    expect(await queue.workers()).toMatchObject([
      { label: 'other', state: 'live' },
      { label: 'doomed', state: 'gone' },
    ]);
  });
});
