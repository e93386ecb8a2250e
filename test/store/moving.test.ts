import { landInSqlite, movedFromSqlite } from '../../src/store/sqlite/moving.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { type MovableStore, movingContract } from './moving.ts';
import { temporaryHome } from './temporary-home.ts';

movingContract('a move from SQLite to SQLite', async () => ({ source: sqlite(), target: sqlite() }));

function sqlite(): MovableStore {
  const home = temporaryHome();
  return {
    open: (signer) => openSqliteStore({ home, by: 'Robin', signer, projections: [] }),
    from: () => movedFromSqlite(home),
    land: (from, arrival) => landInSqlite({ home, projections: [] }, from, arrival),
  };
}
