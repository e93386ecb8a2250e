import { EXIT, failureOf, LifeboatError } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import { loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { connect } from './connect.ts';

/**
 * `lifeboat`: the app, starting with the board of all instances. Rejects with any config error before
 * anything is drawn. Runs that it drove stay open when the user leaves.
 */
export async function app(context: CommandContext): Promise<number> {
  const config = await configOf(context);
  const { showApp } = await import('../../tui/show-run.ts');
  await showApp(context, (screen) => connect(context, config, screen));
  return EXIT.closed;
}

/** Without a config the error says where to begin; with a named one, where lifeboat looked for it. */
async function configOf({ env, configPath }: CommandContext): Promise<LoadedConfig> {
  try {
    return await loadConfig(env, configPath);
  } catch (thrown) {
    const isNamed = configPath !== undefined || Boolean(env['LIFEBOAT_CONFIG']);
    if (isNamed || failureOf(thrown).code !== 'config.missing') throw thrown;
    throw new LifeboatError('config.missing', 'there is no lifeboat.yaml here yet', {
      hints: [
        'to write one for your instances, and try it: lifeboat init',
        'to rehearse every recovery on this machine, without a service: lifeboat drill',
        'to look around in a simulated service: lifeboat lab --out lifeboat.yaml, then lifeboat in another terminal',
      ],
      exitCode: EXIT.usage,
    });
  }
}
