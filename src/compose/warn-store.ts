import type { LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { CommandContext } from '../cli/context.ts';
import { homeFolder } from '../config/find.ts';
import { loadConfig } from '../config/load.ts';
import { otherName } from '../runner/one-name.ts';
import type { JournalReader } from '../store/journal.ts';
import { type CheckOptions, checkLog } from '../store/log/check-log.ts';
import { rolledBack } from '../store/log/explain-trouble.ts';
import { homePlace } from '../store/log/places/folder-place.ts';
import { isOfPlaces } from '../store/log/rollback.ts';
import { ledgerNamesOf } from '../store/projections/instance-names.ts';
import type { StoreContext } from './store-of.ts';

/** Warns on stderr if the journal differs from what was signed in the home. Never rejects. */
export async function warnIfRolledBack(
  { env, stderr }: Pick<CommandContext, 'env' | 'stderr'>,
  journal: JournalReader,
  where: Pick<CheckOptions, 'isShared' | 'seenHere'>,
): Promise<void> {
  const trouble = await troubleInHome(env, journal, where);
  if (trouble !== undefined)
    stderr.write(`warning: ${show(trouble.shortMessage, 300)}; see lifeboat doctor\n`);
}

/**
 * The error for a run whose journal differs from what was signed in the home; else undefined. Checks only the
 * home, so that a reader waits for no mount or key; `lifeboat doctor` checks all. Never rejects.
 */
export async function troubleInHome(
  env: CommandContext['env'],
  journal: JournalReader,
  where: Pick<CheckOptions, 'isShared' | 'seenHere'>,
): Promise<LifeboatError | undefined> {
  try {
    const { trouble } = await checkLog(journal, [homePlace(homeFolder(env))], { ...where, most: 1 });
    // Another place may have what the home lacks.
    if (trouble === undefined || isOfPlaces(trouble)) return undefined;
    return rolledBack(trouble);
  } catch {
    // If the journal is too damaged for this check, the command itself reports that.
    return undefined;
  }
}

/**
 * One line on stderr for each instance that has another name in the store than in the config, because its
 * record is not found under the configured name. Never rejects, because not every reader needs a config.
 */
export async function warnOfOtherNames(
  { env, configPath }: StoreContext,
  stderr: NonNullable<StoreContext['stderr']>,
  journal: JournalReader,
): Promise<void> {
  try {
    const { instances } = await loadConfig(env, configPath);
    const named = Object.entries(instances);
    const knownAs = await ledgerNamesOf(
      journal,
      named.map(([, { url }]) => url),
    );
    for (const [name, { url }] of named) {
      const known = knownAs(url);
      if (known !== undefined && known !== name)
        stderr.write(`warning: ${otherName(name, known).shortMessage}\n`);
    }
  } catch {
    // A command that needs the config or these rows reports what is wrong with them.
  }
}
