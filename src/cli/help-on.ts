import type { Command } from 'commander';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { mostSimilar } from '../base/similar.ts';
import { show } from '../base/text.ts';
import { pathOf } from './help-texts.ts';

/** `lifeboat help [COMMAND...]`: its help to stdout; exit 2 for an unknown command. */
export function helpOn(program: Command, words: readonly string[]): number {
  let command = program;
  for (const word of words) {
    const below = command.createHelp().visibleCommands(command);
    const found = below.find((one) => one.name() === word);
    if (found === undefined) throw unknown(command, word, below);
    command = found;
  }
  command.outputHelp();
  return EXIT.closed;
}

function unknown(parent: Command, word: string, below: readonly Command[]): LifeboatError {
  const near = mostSimilar(
    word,
    below.map((one) => one.name()),
  );
  return new LifeboatError('usage.command', `there is no command ${pathOf(parent)} ${show(word, 60)}`, {
    hints: [
      ...near,
      `\`${pathOf(parent)} --help\` ${below.length === 0 ? 'lists its flags' : 'lists the commands'}`,
    ],
    exitCode: EXIT.usage,
  });
}
