import type { CommandContext } from '../../cli/context.ts';
import { countedOn } from '../../cli/counted.ts';
import { fitBackups, type InstanceFits } from '../../compose/fit-backups.ts';
import { recallBackups, rememberBackups } from '../../compose/last-seen.ts';
import type { Workspace } from '../../compose/workspace.ts';
import type { LoadedConfig } from '../../config/loaded.ts';

const LIMIT_MS = 20_000;

/** The fits of these instances, with a line of progress. */
export async function fitAll(
  context: CommandContext,
  config: LoadedConfig,
  { keyring }: Pick<Workspace, 'keyring'>,
  names: readonly string[],
  limitMs = LIMIT_MS,
): Promise<readonly InstanceFits[]> {
  const recall = recallBackups(context, config);
  const progress = countedOn(context, (done) => `asked ${done} of ${names.length} instances`);
  try {
    return await fitBackups({
      ...{ config, names, keyring, limitMs },
      recall: async (name) => (await recall(name))?.fits ?? [],
      remember: rememberBackups(context, config),
      progress: (_, instances) => progress.count(instances),
      signal: new AbortController().signal,
    });
  } finally {
    progress.end();
  }
}
