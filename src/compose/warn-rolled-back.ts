import type { LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { CommandContext } from '../cli/context.ts';
import { homeFolder } from '../config/find.ts';
import type { JournalReader } from '../store/journal.ts';
import { type CheckOptions, checkLog } from '../store/log/check-log.ts';
import { rolledBack } from '../store/log/explain-trouble.ts';
import { homePlace } from '../store/log/places/folder-place.ts';
import { isOfPlaces } from '../store/log/rollback.ts';

/**
 * One line on stderr where a journal is not what was signed in the home: reading goes on. Never rejects.
 */
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
 * What a run would be refused with where a journal is not what was signed in the home; undefined where it is.
 * Only the home is looked at, since who reads waits for no mount and for no key; `lifeboat doctor` looks at
 * every place. Never rejects.
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
    // A journal that is too damaged for this is too damaged for the command too, which says so.
    return undefined;
  }
}
