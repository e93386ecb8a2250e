import { type Command, Option } from 'commander';
import type { CommandContext } from './context.ts';
import { FORMS } from './output-form.ts';

/** What every command gives back: its exit code. */
export type Action<Options> = (
  context: CommandContext,
  args: readonly string[],
  options: Options,
) => Promise<number>;

/** What else is to be known of a command. */
export interface Manner {
  readonly hidden?: boolean;
  /** It prints nothing that could have another form: then it takes no `-o`. */
  readonly hasNoForm?: boolean;
}

/**
 * Adds a command whose code is loaded when it is called. An argument `instance` and the flag `-i` are the
 * same: the action finds either in `instance` of its options, and not among its arguments.
 */
export type Define = <Options>(
  parent: Command,
  nameAndArgs: string,
  description: string,
  load: () => Promise<Action<Options>>,
  options?: readonly Option[],
  manner?: Manner,
) => Command;

/** A command that only holds others. */
export function group(parent: Command, name: string, description: string): Command {
  const made = parent.command(name).description(description).helpCommand(false);
  for (const option of common({})) made.addOption(option.hideHelp());
  return made;
}

/** What every flag for a point in time takes: `momentFrom` reads them all. */
export const TIME = 'the point in time: 2026-03-01T02:59:00Z, 14:32, "10 minutes ago"';

/** The flag that names the instance. */
export function instance(what = 'the instance, as lifeboat.yaml names it (default: the only one)'): Option {
  return new Option('-i, --instance <name>', what);
}

/** Where the help lists what every command takes. */
export const COMMON_OPTIONS = 'Common options:';

/** The flags that stand before a command or after it. */
export function common({ hasNoForm = false }: Manner): Option[] {
  const form = [
    new Option('-o, --output <form>', 'table, json or yaml').choices(FORMS).default(undefined, 'table'),
    new Option('--json', 'the same as -o json'),
  ];
  return [...(hasNoForm ? [] : form), new Option('--config <file>', 'the lifeboat.yaml to use')].map(
    (option) => option.helpGroup(COMMON_OPTIONS),
  );
}
