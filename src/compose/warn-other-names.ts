import { loadConfig } from '../config/load.ts';
import { otherName } from '../runner/one-name.ts';
import type { JournalReader } from '../store/journal.ts';
import { ledgerNamesOf } from '../store/projections/instance-names.ts';
import type { StoreContext } from './store-of.ts';

/**
 * One line on stderr for each instance that the config names otherwise than the store: what is on record
 * about it is not found under this name. Never rejects: not every reader needs a config.
 */
export async function warnOfOtherNames(
  { env, configPath }: StoreContext,
  stderr: NonNullable<StoreContext['stderr']>,
  journal: JournalReader,
): Promise<void> {
  try {
    const { instances } = await loadConfig(env, configPath);
    const knownAs = await ledgerNamesOf(journal);
    for (const [name, { url }] of Object.entries(instances)) {
      const known = knownAs(url);
      if (known !== undefined && known !== name)
        stderr.write(`warning: ${otherName(name, known).shortMessage}\n`);
    }
  } catch {
    // Whoever needs a config, or rows, says what is wrong with them.
  }
}
