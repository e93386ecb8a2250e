import type { CommandContext } from '../../cli/context.ts';
import { printResult, type ResultOf } from '../../cli/print-result.ts';
import type { SchemaName } from '../../cli/schemas/index.ts';
import { type OpenInstance, openInstance } from '../../compose/service-of.ts';
import { openKeys } from '../../compose/workspace.ts';
import { chosenInstance, loadConfig } from '../../config/load.ts';

/** Asks one instance for something, and adds the name of that instance to the answer. */
export async function askInstance<T extends object>(
  context: CommandContext,
  flags: InstanceFlags,
  ask: (instance: OpenInstance) => Promise<T>,
): Promise<T & { readonly instance: string }> {
  return onInstance(context, flags, async (instance) => ({
    ...(await ask(instance)),
    instance: instance.name,
  }));
}

export interface InstanceFlags {
  readonly instance?: string;
  readonly tokenFile?: string;
}

/** For looking; closes it after `work`. Needs a key store only for a token stored in it. */
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

/** The schemas that contain the service's answer unchanged. */
type Answered = {
  readonly [Name in SchemaName]: ResultOf<Name> extends {
    readonly instance: string;
    readonly answer: unknown;
  }
    ? Name
    : never;
}[SchemaName];

/** Prints what the service answered about an instance: in words by `inWords`, else unchanged, as `answer`. */
export function printAnswer<Name extends Answered>(
  context: CommandContext,
  name: Name,
  { instance, raw }: { readonly instance: string; readonly raw: unknown },
  inWords: () => void,
): Promise<void> {
  // The client has parsed it by the schema, and `raw` is that very answer.
  return printResult(context, name, { instance, answer: raw } as unknown as ResultOf<Name>, inWords);
}
