import { afterAll, beforeAll } from 'vitest';
import { initPostgresStore } from '../../../src/store/postgres/init.ts';
import { landInPostgres, movedFromPostgres } from '../../../src/store/postgres/moving.ts';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import { addressOf, type Servers, startServers } from '../../team/servers.ts';
import { type MovableStore, movingContract, sqliteStore } from '../moving.ts';

let servers: Servers;
let made = 0;
beforeAll(async () => {
  servers = await startServers();
});
afterAll(() => servers?.close());

movingContract('a move from SQLite to PostgreSQL', async () => ({
  source: sqliteStore(),
  target: await postgres(),
}));
movingContract('a move from PostgreSQL to SQLite', async () => ({
  source: await postgres(),
  target: sqliteStore(),
}));

async function postgres(): Promise<MovableStore> {
  made += 1;
  await servers.primary.query(`create database moving_${made}`);
  const where = { address: addressOf([servers.primary.port], `moving_${made}`), env: {} };
  await initPostgresStore(where);
  return {
    open: (signer) => openPostgresStore({ ...where, by: 'Robin', signer, projections: [] }),
    from: () => movedFromPostgres(where),
    land: (from, arrival) => landInPostgres(where, from, arrival),
  };
}
