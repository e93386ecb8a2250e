import { movingContract, sqliteStore } from './moving.ts';

movingContract('a move from SQLite to SQLite', async () => ({
  source: sqliteStore(),
  target: sqliteStore(),
}));
