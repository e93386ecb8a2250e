import { afterAll, expect, onTestFinished, test } from 'vitest';
import type { Hold, Journal } from '../../../src/store/journal.ts';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import { openDatabaseWire } from '../../bench-kit/database-wire.ts';
import { startCluster } from '../../bench-kit/postgres.ts';
import { until } from '../../bench-kit/until.ts';
import { freshSigner } from '../fresh-signer.ts';
import { postgresStore } from './postgres-store.ts';
import { startWriter } from './writer-processes.ts';

/* Leases by the database's clock: who loses one, who gets it, and when. */
const cluster = await startCluster();
afterAll(() => cluster.remove());

const TTL = 2_000;
/** Of who takes over: long enough that a busy machine does not lose this one, which no test here is about. */
const LONG_TTL = 15_000;
const note = { stream: 'run/a', type: 'note', body: { text: 'x' } } as const;

async function opened(address: string, ttl = TTL): Promise<Journal> {
  const options = { address, env: process.env, by: 'Zoë', signer: freshSigner(), projections: [] };
  const journal = await openPostgresStore({ ...options, ttl });
  onTestFinished(() => journal.close());
  return journal;
}

/** Milliseconds until the lease of `run/a` expires, by the database's clock. */
async function leaseLeft(database: string): Promise<number> {
  const [row] = await cluster.query<{ readonly left: number }>(
    `select extract(epoch from until - clock_timestamp())::float8 * 1000 as left
     from lifeboat.leases where resource = 'run/a'`,
    database,
  );
  return row?.left ?? Number.NaN;
}

/**
 * The hold, by the first try after the lease of a holder that renews it no more has expired. By the clock of
 * the database alone, since a test on a busy machine may stand still for longer than a lease.
 */
async function takenOnceExpired(journal: Journal, database: string): Promise<Hold> {
  expect(await leaseLeft(database)).toBeLessThanOrEqual(TTL);
  await until(async () => (await leaseLeft(database)) <= 0);
  return journal.hold('run/a');
}

test('a renewed hold outlives its lease, and lasts no longer than the lease', async () => {
  const { address } = await postgresStore(cluster);
  // Long, so that also a busy machine renews it in time.
  const [mine, theirs] = [await opened(address, LONG_TTL), await opened(address, LONG_TTL)];
  const hold = await mine.hold('run/a');
  const began = performance.now();
  const lasting: number[] = [];
  await until(() => {
    lasting.push(hold.lasts());
    return performance.now() - began > LONG_TTL * 1.2;
  });
  expect(Math.max(...lasting)).toBeLessThan(LONG_TTL);
  expect(Math.min(...lasting)).toBeGreaterThan(0);
  await expect(theirs.hold('run/a')).rejects.toMatchObject({
    code: 'journal.held',
    exitCode: 3,
    shortMessage: expect.stringContaining('this process itself'),
    evidence: { by: 'Zoë', pid: process.pid },
  });
});

test("a dead holder's stream is free once its lease has expired, with every acknowledged entry", async () => {
  const { address, database } = await postgresStore(cluster);
  const writer = await startWriter(address, 'run/a', TTL);
  const journal = await opened(address, LONG_TTL);
  await expect(journal.hold('run/a')).rejects.toMatchObject({
    shortMessage: expect.stringContaining(`writer (process ${writer.pid} on `),
  });
  writer.kill('SIGKILL');
  await writer.ended;
  const hold = await takenOnceExpired(journal, database);
  expect(hold.token).toBe(2);
  expect((await journal.read('run/a')).length).toBeGreaterThanOrEqual(writer.acknowledged);
  await journal.append([note], [hold]);
});

test('a process that was stopped for longer than its lease reports the loss, and writes nothing more', async () => {
  const { address, database } = await postgresStore(cluster);
  const writer = await startWriter(address, 'run/a', TTL);
  const journal = await opened(address, LONG_TTL);
  writer.kill('SIGSTOP');
  const hold = await takenOnceExpired(journal, database);
  await journal.append([note], [hold]);
  const before = await journal.head('run/a');
  writer.kill('SIGCONT');
  await writer.ended;
  const outcomes = writer.said.flatMap(({ lost, refused }) => [lost, refused].filter(Boolean));
  expect(outcomes.toSorted()).toEqual(['journal.conflict', 'journal.lost-hold']);
  expect(await journal.head('run/a')).toEqual(before);
});

test('a process cut off from the database gives up the hold in time, before another process can have it', async () => {
  const store = await postgresStore(cluster);
  const wire = await openDatabaseWire(cluster);
  onTestFinished(() => wire.close());
  const cutOff = await opened(wire.address(store.database));
  const journal = await opened(store.address, LONG_TTL);
  const hold = await cutOff.hold('run/a');
  await cutOff.append([note], [hold]);
  wire.cut();
  let wasLost = false;
  hold.lost.addEventListener('abort', () => {
    wasLost = true;
  });
  await takenOnceExpired(journal, store.database);
  expect([wasLost, hold.lasts()]).toEqual([true, 0]);
  wire.mend();
  await expect(cutOff.append([note], [hold])).rejects.toMatchObject({ code: 'journal.conflict' });
});

test('a server that goes away while the holder lives gives no other process the stream', async () => {
  const { address } = await postgresStore(cluster);
  const [mine, theirs] = [await opened(address, LONG_TTL), await opened(address, LONG_TTL)];
  const hold = await mine.hold('run/a');
  await cluster.crash();
  await cluster.start();
  await mine.append([note], [hold]);
  await expect(theirs.hold('run/a')).rejects.toMatchObject({ code: 'journal.held' });
  expect(hold.lasts()).toBeGreaterThan(0);
});
