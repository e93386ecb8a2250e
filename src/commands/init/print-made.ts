import { counted } from '../../base/format.ts';
import { shellQuoted } from '../../base/shell-quote.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { printResult } from '../../cli/print-result.ts';
import type { StarterInstance } from '../../config/starter.ts';
import { type Check, printChecks } from '../doctor/check.ts';
import type { ChosenStore } from './key-store.ts';
import type { ConfigPlace } from './place.ts';

/** What `init` has found and done. */
export interface Made {
  readonly place: ConfigPlace;
  readonly instances: readonly StarterInstance[];
  readonly checks: readonly Check[];
  readonly keys: ChosenStore;
  readonly written: boolean;
  /** The config, where it is only printed. */
  readonly text?: string;
}

/** Prints what was found, what was written, and what comes next. */
export async function printMade(context: CommandContext, made: Made): Promise<void> {
  const { place, instances, checks, keys, written, text } = made;
  const result = {
    written,
    path: place.path,
    replaced: written && place.replaces,
    instances: instances.map(({ name, url, revision }) => ({ name, url, revision: String(revision) })),
    keyStore: keys.store?.kind ?? ('none' as const),
    environment: keys.environment,
    checks: [...checks],
    ...(text === undefined ? {} : { config: text }),
  };
  await printResult(context, 'init', result, () => {
    if (text === undefined) return inWords(context, made);
    printChecks({ ...context, stdout: context.stderr }, checks);
    context.stdout.write(text);
  });
}

function inWords(context: CommandContext, { place, instances, checks, keys, written }: Made): void {
  printChecks(context, checks);
  if (!written) return;
  const { stdout, configPath } = context;
  const say = (line: string) => stdout.write(`${line}\n`);
  say(`${show(place.path, 200)} is written, with ${counted(instances.length, 'instance')}`);
  for (const [name, value] of Object.entries(keys.environment))
    say(`set this for every command, for instance in your shell's profile: export ${name}=${value}`);
  const config = configPath === undefined ? '' : ` --config ${shellQuoted(configPath)}`;
  say(`next: lifeboat doctor${config}`);
  for (const { name } of instances)
    say(`next: lifeboat keys add ${name}${config}      # the encryption key that is in force`);
}
