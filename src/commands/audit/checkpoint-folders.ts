import { loadConfig } from '../../config/load.ts';
import { LifeboatError } from '../../errors.ts';
import type { CommandContext } from '../context.ts';

/** The config's further checkpoint folders; an audit also works where there is no config. */
export async function checkpointFolders(context: CommandContext): Promise<readonly string[]> {
  try {
    const { checkpoints } = await loadConfig(context.env, context.configPath);
    return checkpoints.flatMap((place) => ('folder' in place ? [place.folder] : []));
  } catch (thrown) {
    const isMissing = thrown instanceof LifeboatError && thrown.code === 'config.missing';
    if (isMissing && context.configPath === undefined) return [];
    throw thrown;
  }
}
