import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { loadConfig } from '../../config/load.ts';

/**
 * How often the config asks for a drill, in milliseconds; undefined where it does not, or there is none. A
 * drill needs no config: one that cannot be read is said on stderr and changes nothing else.
 */
export async function drillInterval(context: CommandContext): Promise<number | undefined> {
  try {
    return (await loadConfig(context.env, context.configPath)).drills?.every;
  } catch (thrown) {
    if (!(thrown instanceof LifeboatError)) throw thrown;
    if (thrown.code !== 'config.missing' || context.configPath !== undefined)
      context.stderr.write(`note: when the next drill is due is unknown: ${show(thrown.shortMessage)}\n`);
    return undefined;
  }
}
