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

/** What says where the entries live. */
export type StoreContext = Pick<CommandContext, 'env'> &
  Partial<Pick<CommandContext, 'configPath' | 'stderr'>>;

/**
 * Opens the store for writing: the team's PostgreSQL where LIFEBOAT_STORE or the config names one, else
 * SQLite in the home. Rejects with what the engine rejects with, with `config.store`, and with
 * `journal.moved` (exit 2) when all of it was copied to another store.
 */
export async function openStoreOf(context: StoreContext, options: OpenAs): Promise<Journal> {
  const journal = await openEngine(context, options);
  try {
    // An append says so too; here, before anybody is asked for anything. What cannot be read is for whoever
    // checks the store.
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

/** Who opens it. */
interface OpenAs {
  readonly by: string;
  readonly signer: Signer;
  /** A person has accepted that the journal of the home is gone: a new one may begin there. */
  readonly afterLoss?: boolean;
  /** Rebuilds the lists that commands read from the entries. */
  readonly rebuild?: boolean;
  /**
   * A person has accepted that the last rows of the home's journal are gone: the heads over them go as well.
   */
  readonly setBack?: boolean;
}

/**
 * The same for looking only: never creates a store, and works while another process writes. Where there is a
 * stderr, one line there says that the journal is not what was signed in the home, and one which instance the
 * store knows by another name than the config.
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

/** The same for who looks at the checkpoints itself. */
export async function openUnchecked(context: StoreContext): Promise<JournalReader> {
  const address = await storeNamed(context.env, context.configPath);
  if (isPostgres(address)) {
    const { openPostgresForReading } = await import('../store/postgres/open.ts');
    return openPostgresForReading(teamsStore(address, context));
  }
  const { openSqliteForReading } = await import('../store/sqlite/open.ts');
  return openSqliteForReading({ home: homeFolder(context.env), projections: PROJECTIONS });
}

/** What every opening of a team's store needs; whoever waits for it is told why. */
function teamsStore(address: string, { env, stderr }: StoreContext) {
  const unreached = ({ shortMessage }: LifeboatError, ms: number) =>
    void stderr?.write(`${show(shortMessage, 300)}; trying for ${ms / 1000} s\n`);
  return { address, env, projections: PROJECTIONS, unreached };
}

/** Whether several installations write to the store. */
async function isShared(context: StoreContext): Promise<boolean> {
  return isPostgres(await storeNamed(context.env, context.configPath));
}

/**
 * The store for looking, or undefined for a home in which nothing was ever written. A database in which no
 * store was made rejects with `journal.none`.
 */
export async function openJournalIfAny(context: StoreContext): Promise<JournalReader | undefined> {
  try {
    return await openReaderOf(context);
  } catch (thrown) {
    const isNone = thrown instanceof LifeboatError && thrown.code === 'journal.none';
    if (isNone && !(await isShared(context))) return undefined;
    throw thrown;
  }
}
