import { show } from '../base/text.ts';
import type { CommandContext } from '../cli/context.ts';
import { homeFolder } from '../config/load.ts';
import type { JournalReader } from '../store/journal.ts';
import { checkLog } from '../store/log/check-log.ts';
import { inShort } from '../store/log/explain-trouble.ts';
import { homePlace } from '../store/log/places/folder-place.ts';

/**
 * One line on stderr where a journal is not what was signed in the home: reading goes on. Only the home is
 * looked at, since a command that reads waits for no mount and for no key; `lifeboat doctor` looks at every
 * place. Never rejects.
 */
export async function warnIfRolledBack(
  { env, stderr }: Pick<CommandContext, 'env' | 'stderr'>,
  journal: JournalReader,
  isShared: boolean,
): Promise<void> {
  try {
    const { trouble } = await checkLog(journal, [homePlace(homeFolder(env))], { isShared, most: 1 });
    // Another place may have what the home lacks.
    if (trouble === undefined || trouble.kinds.every((kind) => kind === 'checkpoints-removed')) return;
    stderr.write(`warning: ${show(inShort(trouble), 300)}; see lifeboat doctor\n`);
  } catch {
    // A journal that is too damaged for this is too damaged for the command too, which says so.
  }
}
