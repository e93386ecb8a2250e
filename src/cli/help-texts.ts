import type { Command, CommanderError, Option } from 'commander';
import type { OfferedRunbookId } from '../../machines/parts/touches.ts';
import { EXIT, EXIT_CODES, LifeboatError } from '../base/errors.ts';
import { mostSimilar } from '../base/similar.ts';
import { show } from '../base/text.ts';
import type { Details } from './define.ts';

export const SUMMARY = 'run disaster-recovery runbooks: one safe step at a time, proven with evidence';

const DOES: Readonly<Record<OfferedRunbookId, string>> = {
  'restore-backup': 'restore a backup into its own instance',
  'restore-point-in-time': 'restore the instance as it was at a time (--to)',
  'disaster-recovery': 'recover a lost instance into another (--target)',
  'back-up-and-verify': 'create a backup now and read it to its last byte',
  'rotate-key': 'set a new encryption key and prove it by a backup',
  'change-instance': 'restart, recreate or update it (--action)',
};

/** The runbooks with what they do, in the order in which people look for them. */
export const RUNBOOKS: readonly (readonly [id: string, does: string])[] = Object.entries(DOES);
export const RUNBOOK_NAMES = Object.keys(DOES);

/** What `lifeboat --help` prints after its commands. */
export const HELP: Details = {
  notes: [
    `Environment:
  LIFEBOAT_HOME             journal, checkpoints, downloads (default: XDG state)
  LIFEBOAT_CONFIG           the lifeboat.yaml to use
  LIFEBOAT_STORE            postgres://... of a team; wins over the config
  LIFEBOAT_KEYCHAIN         os or vault; wins over keyStore of the config
  LIFEBOAT_PASSPHRASE_FILE  the file with the passphrase of the vault file
  LIFEBOAT_PASSPHRASE_COMMAND  or a command that prints it, such as pass
  LIFEBOAT_PGBIN            the folder of another PostgreSQL for the lab
  LIFEBOAT_THEME            dark, light or contrast (default: the terminal's)
  LIFEBOAT_PRESENT          1: the screen hides names and ids
  LIFEBOAT_BELL             off: no bell and no notification of the terminal`,
    `Exit codes:
${exitCodes()}`,
  ],
  examples: [
    'lifeboat                # the app: all instances, in a terminal',
    'lifeboat drill          # rehearse all of it, on this machine',
    'lifeboat init           # write a config, and try it',
    'lifeboat doctor         # look at what a recovery needs',
    'lifeboat help run       # the runbooks, and how to run one',
  ],
};

function exitCodes(): string {
  const codes = Object.entries(EXIT_CODES).map(
    ([name, { means }]) => `${EXIT[name as keyof typeof EXIT]} ${means}`,
  );
  return [codes.slice(0, 4), codes.slice(4)].map((line) => `  ${line.join(' · ')}`).join('\n');
}

/** The first sentence of the parser's error; its suggestion as a hint, and where the help is. */
export function usageError(command: Command, { code, message }: CommanderError): LifeboatError {
  const [, words = message, similar] =
    /^(?:error: )?(.*?)\.?(?:\n\(Did you mean (?:one of )?(.*)\?\))?$/su.exec(message) ?? [];
  const path = pathOf(command);
  const lists = command.commands.some((one) => one.name() !== 'help') ? 'commands' : 'flags';
  return new LifeboatError(CODES[code] ?? 'usage.line', show(words), {
    hints: [
      ...(similar === undefined ? [] : [`the most similar: ${show(similar)}`]),
      ...hintOfChoices(words),
      ...hintOfPlace(command, words),
      ...(/argument '?runbook\b/u.test(words) ? [`the runbooks: ${RUNBOOK_NAMES.join(', ')}`] : []),
      `\`${path} --help\` lists the ${lists}`,
    ],
    exitCode: EXIT.usage,
  });
}

function hintOfChoices(words: string): readonly string[] {
  const [, word, choices] = /argument '(.*)' is invalid\. Allowed choices are (.*)$/su.exec(words) ?? [];
  return word === undefined || choices === undefined ? [] : mostSimilar(word, choices.split(', '));
}

/** Says where a flag belongs that a command below this group has. */
function hintOfPlace(command: Command, words: string): readonly string[] {
  const [, flag = ''] = /^unknown option '(-[^'=]*)/u.exec(words) ?? [];
  const below = command.commands
    .flatMap(optionsWithin)
    .find(({ short, long }) => short === flag || long === flag);
  if (below === undefined) return [];
  const [, value] = /<(\w+)/u.exec(below.flags) ?? [];
  const typed = [flag, ...(value === undefined ? [] : [value.toUpperCase()])].join(' ');
  return [`it goes after the command: ${pathOf(command)} COMMAND ${typed}`];
}

function optionsWithin(command: Command): readonly Option[] {
  return [...command.options, ...command.commands.flatMap(optionsWithin)];
}

const CODES: Readonly<Record<string, string>> = {
  'commander.unknownCommand': 'usage.command',
  'commander.help': 'usage.command',
  'commander.unknownOption': 'usage.option',
  'commander.missingMandatoryOptionValue': 'usage.option',
  'commander.optionMissingArgument': 'usage.option',
  'commander.conflictingOption': 'usage.option',
  'commander.invalidArgument': 'usage.value',
  'commander.missingArgument': 'usage.argument',
  'commander.excessArguments': 'usage.argument',
};

/** `lifeboat backups list`. */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
