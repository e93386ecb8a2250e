import { Command, CommanderError, Option } from 'commander';
import { EXIT } from '../base/errors.ts';
import { connect } from '../commands/app/connect.ts';
import { withKeyStore } from '../config/key-store-named.ts';
import type { CommandContext } from './context.ts';
import { COMMON_OPTIONS, common, type Define, describe, takenOnce, twoValues } from './define.ts';
import { defineAll } from './define-all.ts';
import { asksApp, asksLines } from './early-frame.ts';
import { HELP, SUMMARY } from './help-texts.ts';
import { keepPassphrase } from './kept-passphrase.ts';
import { type FormFlags, formFrom, formOfErrors } from './output-form.ts';
import { printError } from './print-error.ts';
import { usageError } from './usage-error.ts';
import { type CommonFlags, wordsOf } from './words-of.ts';

/** What was done to the terminal before the commands were loaded, and how to undo it. */
export interface EarlyTerminal {
  /** Given when the first frame of the screen is painted already. */
  readonly giveScreenBack?: (() => void) | undefined;
  /** Given while the terminal shows nothing of what is typed, because a passphrase may be asked for. */
  readonly restoreEcho?: (() => void) | undefined;
}

/** What a command line has of its process. */
export type OwnProcess = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'env'>;

/**
 * Parses a command line and runs the command. Gives the exit code; what goes wrong is printed to stderr, in
 * the form that the line asks for, after `giveScreenBack`: it belongs on the ordinary screen. `restoreEcho`
 * is for the commands (`CommandContext`). Everything is read and printed by what is given of the process.
 */
export async function parse(
  given: readonly string[],
  version: string,
  own: OwnProcess,
  { giveScreenBack: beforeError = () => undefined, restoreEcho }: EarlyTerminal,
): Promise<number> {
  let exitCode: number = EXIT.closed;
  // What the app shows first can be said in lines.
  const isInLines = asksLines(given, own);
  const argv = isInLines ? ['status', ...given] : given;
  const form = formOfErrors(argv);
  const finish = (code: number) => {
    exitCode = code;
  };
  const helpToStderr = (text: string) => {
    beforeError();
    if (form === 'table') own.stderr.write(text);
  };
  const only = onlyOneIn(argv);
  const program = commandLine(version, { own, finish, helpToStderr, restoreEcho, only });
  try {
    if (asksApp(argv, own)) {
      const { app } = await import('../commands/app/app.ts');
      program.parseOptions([...argv]);
      return await app({ ...contextFor(own, version, [program.opts<CommonFlags>()]), restoreEcho });
    }
    await program.parseAsync([...argv], { from: 'user' });
    if (isInLines) own.stderr.write(LINES_HINT);
    return exitCode;
  } catch (thrown) {
    // A group without a command has printed its help.
    if (thrown instanceof HelpPrinted && (thrown.isWanted || form === 'table'))
      return thrown.isWanted ? EXIT.closed : EXIT.usage;
    beforeError();
    return printError(thrown instanceof HelpPrinted ? thrown.error : thrown, own.stderr, form);
  }
}

/** For whoever asks for the app where it cannot be drawn. */
const LINES_HINT =
  'hint: the app needs a terminal that can be drawn on; its runs in lines: lifeboat runs --open\n';

/** What happens while a command line is parsed; without it, nothing can be run. */
interface Hearing {
  readonly own: OwnProcess;
  /** Gets the exit code of the command that was run. */
  finish(exitCode: number): void;
  /** Gets the help of a group that was called without a command. */
  helpToStderr(text: string): void;
  readonly restoreEcho?: (() => void) | undefined;
  /** The one command or group that is going to be parsed: the others get neither flags nor help. */
  readonly only?: string | undefined;
}

/**
 * The command that a line names, where it is its first word, so that nothing has to be known of flags to see
 * it; undefined where all commands are asked for.
 */
function onlyOneIn([first = '']: readonly string[]): string | undefined {
  return /^[a-z]/u.test(first) && !OF_ALL.has(first) ? first : undefined;
}

/** Commands that tell of the others. */
const OF_ALL: ReadonlySet<string> = new Set(['help', 'complete']);

/** All commands with their flags and words. */
export function commandLine(
  version: string,
  { own, finish, helpToStderr, restoreEcho, only }: Hearing = {
    own: process,
    finish: () => undefined,
    helpToStderr: () => undefined,
  },
): Command {
  const program = new Command('lifeboat')
    .configureOutput({
      outputError: () => undefined,
      writeErr: helpToStderr,
      writeOut: (text) => void own.stdout.write(text),
    })
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .configureHelp({ subcommandTerm: termOf, optionDescription: wordsOfOption })
    .enablePositionalOptions()
    .helpCommand(false);
  describe(program, SUMMARY, HELP);
  for (const option of common({})) program.addOption(option);

  const command: Define = (parent, nameAndArgs, summary, load, options = [], manner = {}) => {
    const made = parent.command(nameAndArgs, { hidden: manner.hidden ?? false }).helpCommand(false);
    if (only !== undefined && nameBelow(program, made) !== only) return made;
    describe(made, summary, manner);
    const needed = options.filter(({ mandatory }) => mandatory);
    // Commander would ask for a mandatory option before it names a misspelt one, which is that very option
    // more often than not.
    for (const option of options) made.addOption(takenOnce(option).makeOptionMandatory(false));
    for (const option of common(manner)) made.addOption(option);
    made.addHelpOption(new Option('-h, --help', 'show this help').helpGroup(COMMON_OPTIONS));
    return made.action(async () => {
      const missing = needed.find((option) => made.getOptionValue(option.attributeName()) === undefined);
      if (missing !== undefined) {
        const code = 'commander.missingMandatoryOptionValue';
        made.error(`error: required option '${missing.flags}' not specified`, { code });
      }
      const { args, flags, levels } = wordsOf(made);
      const action = await load();
      const context = { ...contextFor(own, version, levels), connect, restoreEcho };
      finish(await action(context, args, flags as never));
    });
  };
  defineAll(program, command);
  for (const one of withAllBelow(program)) one.exitOverride((error) => leave(one, error));
  return program;
}

/** The name of the command, or of its group. */
function nameBelow(program: Command, command: Command): string {
  const { parent } = command;
  return parent === null || parent === program ? command.name() : nameBelow(program, parent);
}

/** A command and all commands below it. */
export function withAllBelow(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withAllBelow)];
}

/** How a command stands in a list: its name and arguments. */
function termOf(command: Command): string {
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...words].join(' ');
}

/** The words of a flag, which name its choices themselves, and its default. */
function wordsOfOption({ description, defaultValue, defaultValueDescription }: Option): string {
  const byDefault = defaultValueDescription ?? (typeof defaultValue === 'string' ? defaultValue : undefined);
  return byDefault === undefined ? description : `${description} (default: ${byDefault})`;
}

/** The parser has printed a help text. */
class HelpPrinted extends Error {
  readonly isWanted: boolean;
  readonly error: unknown;

  constructor(isWanted: boolean, error: unknown) {
    super('help was printed');
    this.isWanted = isWanted;
    this.error = error;
  }
}

/** Called by the parser in place of ending the process. */
function leave(command: Command, error: CommanderError): never {
  if (error.code === 'commander.help')
    throw new HelpPrinted(
      false,
      usageError(command, new CommanderError(2, error.code, 'no command is named')),
    );
  if (error.exitCode === 0) throw new HelpPrinted(true, error);
  throw usageError(command, error);
}

function contextFor(
  { stdin, stdout, stderr, env: given }: OwnProcess,
  version: string,
  levels: readonly CommonFlags[],
): CommandContext {
  const configPath = onlyOne(
    '--config',
    levels.flatMap(({ config }) => config ?? []),
  );
  const alone = onlyOne(
    '--alone',
    levels.flatMap((level) => level.alone ?? []),
  );
  const output = formFrom(levels satisfies readonly FormFlags[]);
  const env = withKeyStore(given, configPath);
  return { stdin, stdout, stderr, env, version, configPath, alone, output, passphrase: keepPassphrase() };
}

/** What a common flag says before the command and after it. */
function onlyOne(flag: string, [value, ...others]: readonly string[]): string | undefined {
  const other = others.find((one) => one !== value);
  if (value !== undefined && other !== undefined) throw twoValues(flag, value, other);
  return value;
}
