import { EXIT, LifeboatError } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import { type OpenInstance, openInstance } from '../../compose/service-of.ts';
import { openKeys } from '../../compose/workspace.ts';
import { instanceNamed, type LoadedConfig, loadConfig } from '../../config/load.ts';

/** Flags of every command that asks one instance something. */
export interface InstanceFlags {
  readonly instance?: string;
  readonly tokenFile?: string;
  readonly json?: boolean;
}

/**
 * Opens the instance that a command is about, for looking, and closes it after `work`. Needs a key store only
 * for a token that rests in one.
 */
export async function onInstance<T>(
  context: CommandContext,
  flags: InstanceFlags,
  work: (instance: OpenInstance) => Promise<T>,
): Promise<T> {
  const config = await loadConfig(context.env, context.configPath);
  await using instance = await openInstance(config, chosenInstance(config, flags.instance), {
    store: async () => (await openKeys(context, 'look')).store,
    tokenFile: flags.tokenFile,
    warn: (line) => context.stderr.write(`${line}\n`),
    found: (line) => context.stderr.write(`${line}\n`),
  });
  return await work(instance);
}

/** The instance that was named, or the only one there is. */
export function chosenInstance(config: LoadedConfig, named: string | undefined): string {
  if (named !== undefined) {
    instanceNamed(config, named);
    return named;
  }
  const names = Object.keys(config.instances);
  const [only, another] = names;
  if (only !== undefined && another === undefined) return only;
  throw new LifeboatError('usage.instance', 'it is not said which instance is meant', {
    hints: [`add --instance with one of: ${names.join(', ') || 'none; the config has no instance'}`],
    exitCode: EXIT.usage,
  });
}
