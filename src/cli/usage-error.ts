import type { Command, CommanderError, Option } from 'commander';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { mostSimilar } from '../base/similar.ts';
import { show } from '../base/text.ts';
import { RUNBOOK_NAMES } from './help-texts.ts';

/**
 * What is wrong with a command line, as an error like any other: the parser's first sentence, its suggestion
 * as a hint, and where the help is.
 */
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

/** The choice that may be meant by a word that is none. */
function hintOfChoices(words: string): readonly string[] {
  const [, word, choices] = /argument '(.*)' is invalid\. Allowed choices are (.*)$/su.exec(words) ?? [];
  return word === undefined || choices === undefined ? [] : mostSimilar(word, choices.split(', '));
}

/** Where a flag belongs that a group does not take, and a command below it does. */
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

/** By what the parser calls them. */
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
