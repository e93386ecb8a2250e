import type { CommandContext } from '../../cli/context.ts';
import { homeFolder } from '../../config/find.ts';
import { isPostgres, shownStore } from '../../config/store-address.ts';
import type { Arrival, MovedFrom } from '../../store/moving.ts';
import { PROJECTIONS } from '../../store/projected.ts';

/** One store as the commands of `lifeboat store` handle it, whatever its engine is. */
export interface StoreSide {
  /** For a person. */
  readonly shown: string;
  /** The context in which every other command uses it. */
  readonly context: CommandContext;
  /** Who writes to it now, in words. */
  holders(): Promise<readonly string[]>;
  /** What it gives away. Rejects with `journal.none` when nothing was ever written to it. */
  from(): Promise<MovedFrom & { close(): Promise<void> }>;
  /** Lays down what another store gives away (`layDown`). */
  land(from: MovedFrom, arrival: Arrival): Promise<void>;
}

/** The store of an address, checked already. Opens nothing. */
export function sideOf(context: CommandContext, address: string): StoreSide {
  const there = { ...context, env: { ...context.env, LIFEBOAT_STORE: address } };
  return isPostgres(address) ? postgresSide(there, address) : sqliteSide(there);
}

function sqliteSide(context: CommandContext): StoreSide {
  const home = homeFolder(context.env);
  const options = { home, projections: PROJECTIONS };
  return {
    shown: `sqlite in ${home}`,
    context,
    holders: async () => (await import('../../store/sqlite/stream-lock.ts')).holdersIn(home),
    from: async () => (await import('../../store/sqlite/moving.ts')).movedFromSqlite(home),
    land: async (from, arrival) =>
      (await import('../../store/sqlite/moving.ts')).landInSqlite(options, from, arrival),
  };
}

function postgresSide(context: CommandContext, address: string): StoreSide {
  const options = { address, env: context.env, projections: PROJECTIONS };
  const moving = () => import('../../store/postgres/moving.ts');
  return {
    shown: shownStore(address),
    context,
    holders: async () => (await moving()).holdersInPostgres(options),
    from: async () => (await moving()).movedFromPostgres(options),
    land: async (from, arrival) => (await moving()).landInPostgres(options, from, arrival),
  };
}
