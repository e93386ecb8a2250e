import type { ActivityDeps } from '../activities/deps.ts';
import type { CommandContext } from '../cli/context.ts';
import type { LoadedConfig } from '../config/loaded.ts';
import { tokenVariables } from '../config/loaded.ts';
import type { Awaits } from '../service/awaited.ts';
import type { RequestRecorder } from './request-recorder.ts';

/**
 * The platform of the config, opened when it is first asked for and once only. `close` ends it if it was
 * opened.
 */
export function lazyPlatform(
  context: CommandContext,
  config: LoadedConfig,
  recorder?: RequestRecorder,
  awaits?: Awaits,
): { readonly platform: ActivityDeps['platform']; readonly close: () => Promise<void> } {
  let opened: ReturnType<ActivityDeps['platform']> | undefined;
  const open = async () => {
    const { openPlatform } = await import('../platform/open.ts');
    const { tokenReader } = await import('../service/token-source.ts');
    const hideEnv = tokenVariables(config);
    return openPlatform(config, {
      env: context.env,
      hideEnv,
      tap: recorder?.platform,
      awaits,
      tokenOf: (source) => tokenReader(source, { keychain: noKeychain, hideEnv }),
    });
  };
  return {
    platform: () => {
      opened ??= open();
      return opened;
    },
    close: async () => {
      const found = await opened?.catch(() => undefined);
      if (found !== undefined && 'close' in found) await found.close();
    },
  };
}

/** The config offers no such source for the platform. */
function noKeychain(): never {
  throw new Error('the access token of the platform is never kept in the key store');
}
