import { homeFolder } from '../config/load.ts';
import type { Journal, JournalReader } from '../store/journal.ts';
import type { Signer } from '../store/log/signer.ts';
import { PROJECTIONS } from '../store/projections/all.ts';
import type { CommandContext } from './context.ts';

/** Opens the store for writing: SQLite in the home, or the team's PostgreSQL where the config or LIFEBOAT_STORE names one. */
export async function openStoreOf(
  context: Pick<CommandContext, 'env'>,
  { by, signer, afterLoss = false }: OpenAs,
): Promise<Journal> {
  const { openSqliteStore } = await import('../store/sqlite/open.ts');
  return openSqliteStore({ home: homeFolder(context.env), by, signer, projections: PROJECTIONS, afterLoss });
}

/** Who opens it. */
interface OpenAs {
  readonly by: string;
  readonly signer: Signer;
  /** A person has accepted that the journal of the home is gone: a new one may begin there. */
  readonly afterLoss?: boolean;
}

/** The same for looking only: never creates a store, and works while another process writes. */
export async function openReaderOf(context: Pick<CommandContext, 'env'>): Promise<JournalReader> {
  const { openSqliteForReading } = await import('../store/sqlite/open.ts');
  return openSqliteForReading({ home: homeFolder(context.env), projections: PROJECTIONS });
}

/** Whether several installations write to the store: PostgreSQL. */
export async function isShared({ env }: Pick<CommandContext, 'env'>): Promise<boolean> {
  return /^postgres/u.test(env['LIFEBOAT_STORE'] ?? '');
}
