import { afterAll, beforeAll } from 'vitest';
import { landInPostgres, movedFromPostgres } from '../../../src/store/postgres/moving.ts';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import { initPostgresStore } from '../../../src/store/postgres/schema.ts';
import { type Cluster, startCluster } from '../../bench-kit/postgres.ts';
import { type MovableStore, movingContract, sqliteStore } from '../moving.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster?.remove());

movingContract('a move from SQLite to PostgreSQL', async () => ({
  source: sqliteStore(),
  target: await postgres(),
}));
movingContract('a move from PostgreSQL to SQLite', async () => ({
  source: await postgres(),
  target: sqliteStore(),
}));

async function postgres(): Promise<MovableStore> {
  const where = { address: cluster.address(await cluster.makeDatabase()), env: {} };
  await initPostgresStore(where);
  return {
    open: (signer) => openPostgresStore({ ...where, by: 'Robin', signer, projections: [] }),
    from: () => movedFromPostgres(where),
    land: (from, arrival) => landInPostgres(where, from, arrival),
  };
}
