import type { CommandContext } from '../cli/context.ts';
import type { LoadedConfig } from '../config/loaded.ts';
import type { AskFleet } from './ask-fleet.ts';

/**
 * What the token of a platform that the config names by its address may do with each instance; undefined
 * where it names none: the login of the tool `cf` is somebody's, and need not be that of a recovery.
 */
export async function rightsByPlatform(
  context: CommandContext,
  config: LoadedConfig,
): Promise<{ readonly rightOf: AskFleet['rightOf']; readonly close: () => Promise<void> }> {
  if (typeof config.platform === 'string') return { rightOf: undefined, close: async () => undefined };
  // Most teams name none, and a look at the instances need not load what talks to it.
  const { lazyPlatform } = await import('./instances.ts');
  const { platform, close } = lazyPlatform(context, config);
  return {
    rightOf: async (name, signal) => {
      const found = await platform();
      const url = config.instances[name]?.url;
      if ('none' in found || url === undefined) return 'unsaid';
      return found.right(url, signal);
    },
    close,
  };
}
