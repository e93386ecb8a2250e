import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { volumeOfPostgres } from '../../../src/store/postgres/moving.ts';
import { type Cluster, startCluster } from '../../bench-kit/postgres.ts';
import { volumeContract } from '../volume.ts';
import { postgresStore } from './postgres-store.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster?.remove());

const where = (address: string) => ({ address, env: process.env });

volumeContract('PostgreSQL', async () => {
  const store = await postgresStore(cluster);
  return { open: () => store.open(), volume: () => volumeOfPostgres(where(store.address)) };
});

test('PostgreSQL says when dead rows were last removed', async () => {
  const store = await postgresStore(cluster);
  const journal = await store.open();
  onTestFinished(() => journal.close());
  expect((await volumeOfPostgres(where(store.address))).vacuum?.lastAt).toBeUndefined();
  await cluster.query('vacuum lifeboat.leases', store.database);
  const { vacuum } = await volumeOfPostgres(where(store.address));
  expect(vacuum).toMatchObject({ lastAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/u), deadRows: 0 });
});
