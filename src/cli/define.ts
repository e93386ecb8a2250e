import { type Command, Option } from 'commander';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { isNoReason, noReasonWords } from '../base/reason.ts';
import { show } from '../base/text.ts';
import { type CommandContext, FORMS } from './context.ts';

/** What every command returns: its exit code. */
export type Action<Options> = (
  context: CommandContext,
  args: readonly string[],
  options: Options,
) => Promise<number>;

/** The help of a command besides its line in the list and its flags. */
export interface Details {
  /** Whole sentences; paragraphs are separated by an empty line. */
  readonly about?: string;
  /** Command lines to copy. */
  readonly examples?: readonly string[];
  /** Tables and lists as printed: a heading, and indented lines. */
  readonly notes?: readonly string[];
}

export interface Manner extends Details {
  readonly hidden?: boolean;
  /** Its output has no other form, so it takes no `-o`. */
  readonly hasNoForm?: boolean;
}

/**
 * Adds a command whose code is loaded when it is called. `summary` is its line in a list: an imperative in
 * lower case, without a full stop. An argument `instance` and the flag `-i` are the same: the action finds
 * either in `instance` of its options, not among its arguments; a list if the argument takes several.
 */
export type Define = <Options>(
  parent: Command,
  nameAndArgs: string,
  summary: string,
  load: () => Promise<Action<Options>>,
  options?: readonly Option[],
  manner?: Manner,
) => Command;

export function group(parent: Command, name: string, summary: string, details: Details = {}): Command {
  const made = parent.command(name).helpCommand(false);
  for (const option of common({})) made.addOption(option.hideHelp());
  return describe(made, summary, details);
}

export function describe(command: Command, summary: string, details: Details): Command {
  const { about, examples = [], notes = [] } = details;
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  const after = [...notes, ...(examples.length === 0 ? [] : [`Examples:\n${indented(examples)}`])];
  command.summary(summary).description(about === undefined ? sentence : `${sentence}\n\n${unwrapped(about)}`);
  if (after.length > 0) command.addHelpText('after', `\n${after.join('\n\n')}`);
  DETAILS.set(command, details);
  return command;
}

/** Each paragraph in one line: the help is wrapped once, for the width of its reader. */
function unwrapped(about: string): string {
  return about.replaceAll(/(?<!\n)\n(?!\n)/gu, ' ');
}

const DETAILS = new WeakMap<Command, Details>();

/** The texts given to `describe`, for generated documents. */
export function detailsOf(command: Command): Details {
  return DETAILS.get(command) ?? {};
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join('\n');
}

/** The value of every flag for a point in time: `momentFrom` reads them all. */
export const TIME = '14:32, "10 minutes ago" or 2026-03-01T02:59:00Z';

export function instance(what = 'the instance (default: the only one)'): Option {
  return new Option('-i, --instance <name>', what);
}

/** A second, different value is refused (`usage.option`, exit 2). Flags that collect values are unchanged. */
export function takenOnce(option: Option): Option {
  const { parseArg: read, defaultValue } = option;
  if (!option.required || option.variadic) return option;
  return option.argParser((value, previous: unknown) => {
    if (typeof previous === 'string' && previous !== defaultValue && previous !== value)
      throw twoValues(option.long ?? option.flags, previous, value);
    if (REASON_FLAGS.has(option.long ?? '') && isNoReason(value)) throw noReason(option.long ?? '', value);
    return read === undefined ? value : read(value, previous);
  });
}

const REASON_FLAGS: ReadonlySet<string> = new Set([
  ...['--reason', '--abandon', '--anyway', '--break-glass', '--alone', '--no-follow-ups', '--because'],
]);

function noReason(flag: string, value: string): LifeboatError {
  return new LifeboatError('usage.option', `${flag}: ${noReasonWords(show(value, 80))}`, {
    hints: ['nothing was done'],
    exitCode: EXIT.usage,
  });
}

export function twoValues(flag: string, one: string, other: string): LifeboatError {
  return new LifeboatError(
    'usage.option',
    `${flag} has two values: ${show(one, 80)} and ${show(other, 80)}`,
    {
      hints: ['give it once', 'nothing was done'],
      exitCode: EXIT.usage,
    },
  );
}

export const COMMON_OPTIONS = 'Common options:';

/** The flags that stand before or after a command. */
export function common({ hasNoForm = false }: Manner): Option[] {
  const form = [
    new Option('-o, --output <form>', 'table, json or yaml').choices(FORMS).default(undefined, 'table'),
    new Option('--json', 'short for -o json'),
  ];
  const others = [
    new Option('--config <file>', 'the lifeboat.yaml to use'),
    new Option('--alone <reason>', 'go on without the shared folder'),
  ];
  return [...(hasNoForm ? [] : form), ...others].map((option) => takenOnce(option).helpGroup(COMMON_OPTIONS));
}
