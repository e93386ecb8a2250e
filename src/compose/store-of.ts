import { LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { CommandContext } from '../cli/context.ts';
import { homeFolder } from '../config/find.ts';
import { isPostgres } from '../config/store-address.ts';
import { storeNamed } from '../config/store-named.ts';
import { type Journal, type JournalReader, LOG_STREAM } from '../store/journal.ts';
import { hearLog, NOTHING_SAID } from '../store/log/named-keys.ts';
import { assertNotMoved } from '../store/log/next-leaves.ts';
import type { Signer } from '../store/log/signer.ts';
import { PROJECTIONS } from '../store/projected.ts';

export type StoreContext = Pick<CommandContext, 'env'> &
  Partial<Pick<CommandContext, 'configPath' | 'stderr'>>;

/** Opens and reads without warnings, where stderr is not seen or heard twice. */
export function unheard({ stderr: _, ...context }: StoreContext): StoreContext {
  return context;
}

/**
 * Opens the store for writing: the team's PostgreSQL if LIFEBOAT_STORE or the config names one, otherwise
 * SQLite in the home. Rejects with errors of the engine, with `config.store`, and with `journal.moved` (exit
 * 2) if it was copied to another store.
 */
export async function openStoreOf(context: StoreContext, options: OpenAs): Promise<Journal> {
  const journal = await openEngine(context, options);
  try {
    // Appending checks this too, but only after questions were asked. An unreadable log is left to the
    // commands that verify the store.
    assertNotMoved(hearLog(NOTHING_SAID, await journal.read(LOG_STREAM).catch(() => [])));
    return journal;
  } catch (thrown) {
    await journal.close();
    throw thrown;
  }
}

async function openEngine(
  context: StoreContext,
  { by, signer, afterLoss = false, rebuild = false, setBack = false }: OpenAs,
): Promise<Journal> {
  const address = await storeNamed(context.env, context.configPath);
  if (isPostgres(address)) {
    const { openPostgresStore } = await import('../store/postgres/open.ts');
    return openPostgresStore({ ...teamsStore(address, context), by, signer, rebuild });
  }
  const { openSqliteStore } = await import('../store/sqlite/open.ts');
  return openSqliteStore({
    home: homeFolder(context.env),
    by,
    signer,
    projections: PROJECTIONS,
    afterLoss,
    rebuild,
    setBack,
  });
}

interface OpenAs {
  readonly by: string;
  readonly signer: Signer;
  /** A person has accepted the loss of the home's journal: a new one may begin there. */
  readonly afterLoss?: boolean;
  /** Rebuilds the projections from the entries. */
  readonly rebuild?: boolean;
  /** A person has accepted the loss of the home's last rows: the heads over them are removed too. */
  readonly setBack?: boolean;
}

/**
 * Never creates a store, and works beside a writer. With a stderr, warns of a journal that differs from what
 * was signed in the home, and of instances with another name in the store.
 */
export async function openReaderOf(context: StoreContext): Promise<JournalReader> {
  const journal = await openUnchecked(context);
  const { stderr, env } = context;
  if (stderr !== undefined) {
    const { warnIfRolledBack } = await import('./warn-store.ts');
    const { checkedAs } = await import('./store-seen.ts');
    await warnIfRolledBack({ env, stderr }, journal, await checkedAs(context));
    const { warnOfOtherNames } = await import('./warn-store.ts');
    await warnOfOtherNames(context, stderr, journal);
  }
  return journal;
}

/** Opens the store for reading by a command that verifies the checkpoints itself. */
export async function openUnchecked(context: StoreContext): Promise<JournalReader> {
  const address = await storeNamed(context.env, context.configPath);
  if (isPostgres(address)) {
    const { openPostgresForReading } = await import('../store/postgres/open.ts');
    return openPostgresForReading(teamsStore(address, context));
  }
  const { openSqliteForReading } = await import('../store/sqlite/open.ts');
  return openSqliteForReading({ home: homeFolder(context.env), projections: PROJECTIONS });
}

/** Options of a team's store; while it is waited for, stderr says why. */
function teamsStore(address: string, { env, stderr }: StoreContext) {
  const unreached = ({ shortMessage }: LifeboatError, ms: number) =>
    void stderr?.write(`${show(shortMessage, 300)}; trying for ${ms / 1000} s\n`);
  return { address, env, projections: PROJECTIONS, unreached };
}

async function isShared(context: StoreContext): Promise<boolean> {
  return isPostgres(await storeNamed(context.env, context.configPath));
}

/** Undefined for a home without a store. Rejects with `journal.none` for a database without one. */
export async function openJournalIfAny(context: StoreContext): Promise<JournalReader | undefined> {
  try {
    return await openReaderOf(context);
  } catch (thrown) {
    const isNone = thrown instanceof LifeboatError && thrown.code === 'journal.none';
    if (isNone && !(await isShared(context))) return undefined;
    throw thrown;
  }
}
