import type { Command, CommanderError } from 'commander';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { RUNBOOKS } from './help-texts.ts';

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
      ...(/argument '?runbook\b/u.test(words)
        ? [`the runbooks: ${RUNBOOKS.map(([id]) => id).join(', ')}`]
        : []),
      `\`${path} --help\` lists the ${lists}`,
    ],
    exitCode: EXIT.usage,
  });
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
