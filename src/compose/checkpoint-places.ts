import { LifeboatError } from '../base/errors.ts';
import type { CommandContext } from '../cli/context.ts';
import { homeFolder } from '../config/find.ts';
import { loadConfig } from '../config/load.ts';
import type { CheckpointConfig } from '../config/loaded.ts';
import { folderPlace, homePlace } from '../store/log/places/folder-place.ts';
import { commandPlace, type Place } from '../store/log/places/place.ts';

/** The home's place, which is required, and the config's. Checks nothing before use. */
export function placesOf(home: string, configured: readonly CheckpointConfig[]): [Place, ...Place[]] {
  const further = configured.map((one) =>
    'folder' in one
      ? folderPlace(one.folder)
      : commandPlace({ command: one.command, timeoutMs: one.timeout, hideEnv: one.hideEnv }),
  );
  return [homePlace(home), ...further];
}

/** The same for a command that only reads, which also works without a config. */
export async function placesHere(
  context: Pick<CommandContext, 'env' | 'configPath'>,
): Promise<[Place, ...Place[]]> {
  return placesOf(homeFolder(context.env), await configuredPlaces(context));
}

/** The config's further places; none without a config. */
export async function configuredPlaces(
  context: Pick<CommandContext, 'env' | 'configPath'>,
): Promise<readonly CheckpointConfig[]> {
  try {
    return (await loadConfig(context.env, context.configPath)).checkpoints;
  } catch (thrown) {
    const isMissing = thrown instanceof LifeboatError && thrown.code === 'config.missing';
    if (isMissing && context.configPath === undefined) return [];
    throw thrown;
  }
}
