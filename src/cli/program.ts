import { Command, CommanderError, Option } from 'commander';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { connect } from '../commands/app/connect.ts';
import { withKeyStore } from '../config/key-store-named.ts';
import { type CommandContext, type FormFlags, formFrom, formOfErrors } from './context.ts';
import { COMMON_OPTIONS, common, type Define, describe, takenOnce, twoValues } from './define.ts';
import { defineAll } from './define-all.ts';
import { asksApp, asksLines } from './early-frame.ts';
import { HELP, SUMMARY, usageError } from './help-texts.ts';
import { keepPassphrase } from './kept-passphrase.ts';
import { printError } from './print-error.ts';

/** What was changed about the terminal before the commands were loaded, and how to undo it. */
export interface EarlyTerminal {
  readonly giveScreenBack?: (() => void) | undefined;
  /** Set while echo is disabled because a passphrase may be asked for. */
  readonly restoreEcho?: (() => void) | undefined;
}

type OwnProcess = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'env'>;

/**
 * Parses a command line and runs the command. Resolves with the exit code. Errors are printed to stderr in
 * the requested form, after `giveScreenBack`, so that they appear on the normal screen. `restoreEcho` is
 * handed to the commands (`CommandContext`). Only the given parts of the process are used.
 */
export async function parse(
  given: readonly string[],
  version: string,
  own: OwnProcess,
  { giveScreenBack: beforeError = () => undefined, restoreEcho }: EarlyTerminal,
): Promise<number> {
  let exitCode: number = EXIT.closed;
  // Without a screen, the app prints its first view as lines.
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
    // A group called without a command has printed its help.
    if (thrown instanceof HelpPrinted && (thrown.isWanted || form === 'table'))
      return thrown.isWanted ? EXIT.closed : EXIT.usage;
    beforeError();
    return printError(thrown instanceof HelpPrinted ? thrown.error : thrown, own.stderr, form);
  }
}

/** Advice if the app was requested where it cannot be drawn. */
const LINES_HINT =
  'hint: the app needs a terminal that can be drawn on; its runs in lines: lifeboat runs --open\n';

/** Callbacks of a parse that runs a command; without them, nothing can be run. */
interface Hearing {
  readonly own: OwnProcess;
  finish(exitCode: number): void;
  /** Receives the help of a group that was called without a command. */
  helpToStderr(text: string): void;
  readonly restoreEcho?: (() => void) | undefined;
  /** The command or group to be parsed; the others get neither flags nor help, which saves time. */
  readonly only?: string | undefined;
}

/** The command, if it is the first word (so no flag has to be understood); undefined if all are needed. */
function onlyOneIn([first = '']: readonly string[]): string | undefined {
  return /^[a-z]/u.test(first) && !OF_ALL.has(first) ? first : undefined;
}

const OF_ALL: ReadonlySet<string> = new Set(['help', 'complete']);

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
    // Commander would report a missing mandatory option before the misspelt one, which is usually that
    // option.
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

function nameBelow(program: Command, command: Command): string {
  const { parent } = command;
  return parent === null || parent === program ? command.name() : nameBelow(program, parent);
}

export function withAllBelow(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withAllBelow)];
}

function termOf(command: Command): string {
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...words].join(' ');
}

/** The description of a flag with its default. It names its choices itself. */
function wordsOfOption({ description, defaultValue, defaultValueDescription }: Option): string {
  const byDefault = defaultValueDescription ?? (typeof defaultValue === 'string' ? defaultValue : undefined);
  return byDefault === undefined ? description : `${description} (default: ${byDefault})`;
}

/** Thrown after the parser has printed a help text. */
class HelpPrinted extends Error {
  readonly isWanted: boolean;
  readonly error: unknown;

  constructor(isWanted: boolean, error: unknown) {
    super('help was printed');
    this.isWanted = isWanted;
    this.error = error;
  }
}

/** The parser calls this instead of ending the process. */
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

/** A common flag may stand before or after the command, but only once. */
function onlyOne(flag: string, [value, ...others]: readonly string[]): string | undefined {
  const other = others.find((one) => one !== value);
  if (value !== undefined && other !== undefined) throw twoValues(flag, value, other);
  return value;
}

interface CommonFlags extends FormFlags {
  readonly config?: string;
  readonly alone?: string;
}

interface Words {
  readonly args: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
  /** The common flags before and after the command, outermost first. */
  readonly levels: readonly CommonFlags[];
}

/**
 * The argument `instance` becomes the flag of that name; several are combined. Throws `usage.instance` (exit
 * 2) if argument and flag differ, `usage.output` if the command lacks the requested form.
 */
function wordsOf(command: Command): Words {
  const values: unknown[] = [...command.processedArgs];
  const at = command.registeredArguments.findIndex((argument) => argument.name() === 'instance');
  const [positional] = at === -1 ? [] : values.splice(at, 1);
  const flags = command.opts();
  const args = values.flat().filter((arg): arg is string => typeof arg === 'string');
  return { args, flags: { ...flags, ...instancesOf(positional, flags) }, levels: levelsOf(command) };
}

/** Combines argument and flag; of a command that takes several instances, all of them. */
function instancesOf(positional: unknown, flags: Readonly<Record<string, unknown>>) {
  if (Array.isArray(positional)) return { instance: [...positional, ...[flags['instance'] ?? []].flat()] };
  return typeof positional === 'string' ? { instance: theOne(positional, flags) } : {};
}

function theOne(positional: string, { instance }: Readonly<Record<string, unknown>>): string {
  if (instance === undefined || instance === positional) return positional;
  throw new LifeboatError(
    'usage.instance',
    `two instances are named: ${show(positional, 80)} and ${show(String(instance), 80)}`,
    { hints: ['name it once, as an argument or with -i', 'nothing was done'], exitCode: EXIT.usage },
  );
}

function levelsOf(command: Command): readonly CommonFlags[] {
  const outer = command.parent === null ? [] : levelsOf(command.parent);
  const own = command.opts<CommonFlags>();
  const levels = [...outer, own];
  const takesForm = command.options.some(({ long }) => long === '--output');
  if (takesForm || levels.every(({ output, json }) => output === undefined && json !== true)) return levels;
  throw new LifeboatError('usage.output', `\`${command.name()}\` has no other form of output`, {
    hints: ['leave out -o and --json'],
    exitCode: EXIT.usage,
  });
}
