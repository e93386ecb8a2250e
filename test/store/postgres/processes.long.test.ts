import { afterAll, expect, onTestFinished, test } from 'vitest';
import { leafText } from '../../../src/store/canonical.ts';
import { entryOf } from '../../../src/store/new-entry.ts';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import { PROJECTIONS } from '../../../src/store/projected.ts';
import { startCluster } from '../../bench-kit/postgres.ts';
import { until } from '../../bench-kit/until.ts';
import { randomFrom } from '../../random.ts';
import { freshSigner } from '../fresh-signer.ts';
import { naiveRoot } from '../log/naive.ts';
import { postgresStore } from './postgres-store.ts';
import { startWriter, type WriterProcess } from './writer-processes.ts';

/* With fsync: acknowledged entries must survive a crash of the server too. */
const cluster = await startCluster({ fsync: true });
afterAll(() => cluster.remove());

const PROCESSES = 20;
/** Milliseconds. Twenty processes share two cores with other work. */
const PATIENCE = 120_000;
const random = randomFrom(20_261_122);

test('twenty processes append at once, are killed, and the server crashes: nothing acknowledged is lost, and the tree is intact', async () => {
  const { address } = await postgresStore(cluster);
  const writers = await Promise.all(
    Array.from({ length: PROCESSES }, (_, number) => startWriter(address, `run/w${number}`, 15_000)),
  );
  await until(() => total(writers) > 10 * PROCESSES, PATIENCE);
  for (let round = 1; round <= 3; round += 1) {
    const before = total(writers);
    const victim = writers[Math.floor(random() * PROCESSES)];
    victim?.kill('SIGKILL');
    await victim?.ended;
    if (round === 2) {
      await cluster.crash();
      await cluster.start();
    }
    await until(() => total(writers) > before + 5 * PROCESSES, PATIENCE);
  }
  for (const writer of writers) writer.kill('SIGKILL');
  await Promise.all(writers.map(({ ended }) => ended));
  const options = { address, env: process.env, by: 'judge', signer: freshSigner(), projections: PROJECTIONS };
  const journal = await openPostgresStore(options);
  onTestFinished(() => journal.close());
  for (const [number, writer] of writers.entries()) {
    const read = await journal.read(`run/w${number}`);
    expect(read.map(({ body }) => (body as { number: number }).number)).toEqual(read.map((_, at) => at + 1));
    expect(read.length).toBeGreaterThanOrEqual(writer.acknowledged);
    expect(read.length).toBeLessThanOrEqual(writer.acknowledged + 1);
  }
  const [all, head] = [await Array.fromAsync(journal.log.stored()), await journal.log.head()];
  expect(all.map(({ index }) => index)).toEqual(all.map((_, at) => at));
  const leaves = all.map((stored) => Buffer.from(leafText(entryOf(stored) && stored)));
  expect(head).toMatchObject({ size: all.length, root: naiveRoot(leaves).toString('hex') });
  expect(await journal.log.count()).toBe(head.size);
}, 3_000_000);

function total(writers: readonly WriterProcess[]): number {
  return writers.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
}
