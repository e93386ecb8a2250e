import type { CommandContext } from '../../cli/context.ts';
import { homeFolder } from '../../config/find.ts';
import { isPostgres, shownStore } from '../../config/store-address.ts';
import type { Arrival, MovedFrom } from '../../store/moving.ts';
import { PROJECTIONS } from '../../store/projected.ts';
import type { StoreRights } from '../../store/rights.ts';
import type { Volume } from '../../store/volume.ts';

/** One store as the commands of `lifeboat store` handle it, whatever its engine. */
export interface StoreSide {
  readonly shown: string;
  /** The context in which every other command uses it. */
  readonly context: CommandContext;
  /** Which processes write to it now, in words. */
  holders(): Promise<readonly string[]>;
  /** And its growth. Rejects with `journal.none` when nothing was ever written. */
  volume(): Promise<Volume>;
  /** What this user may do to it; undefined for SQLite, whose files say so. */
  rights(): Promise<StoreRights | undefined>;
  /** The entries to move out of it. Rejects with `journal.none` when nothing was ever written to it. */
  from(): Promise<MovedFrom & { close(): Promise<void> }>;
  /** Writes what `from` of another store returned (`layDown`). */
  land(from: MovedFrom, arrival: Arrival): Promise<void>;
}

/** The store at an address that was already checked. Opens nothing. */
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
    volume: async () => (await import('../../store/sqlite/volume.ts')).volumeOfSqlite(home),
    rights: async () => undefined,
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
    volume: async () => (await moving()).volumeOfPostgres(options),
    rights: async () => (await moving()).rightsInPostgres(options),
    from: async () => (await moving()).movedFromPostgres(options),
    land: async (from, arrival) => (await moving()).landInPostgres(options, from, arrival),
  };
}
