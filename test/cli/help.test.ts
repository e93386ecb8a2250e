import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { detailsOf } from '../../src/cli/define.ts';
import { pathOf } from '../../src/cli/help-texts.ts';
import { commandLine, withAllBelow } from '../../src/cli/program.ts';
import { commandsIn } from '../docs/commands-in.ts';
import { wrongAmong } from '../docs/wrong-commands.ts';

const COMMANDS = withAllBelow(commandLine('0.0.0')).map((command) => [pathOf(command), command] as const);
const COLUMNS = 80;

/** What the command prints as its help on a terminal of 80 columns. */
function helpOf(command: Command): string {
  let help = '';
  command.configureOutput({ getOutHelpWidth: () => COLUMNS, writeOut: (text) => (help += text) });
  command.outputHelp();
  return help;
}

describe.each(COMMANDS)('the help of %s', (_, command) => {
  const help = helpOf(command);

  test('fits into 80 columns', () => {
    expect(help.split('\n').filter((line) => line.length > COLUMNS)).toEqual([]);
  });

  test('wraps its sentences fully: no line ends where the next word would have fitted', () => {
    const about = help.split('\n\n')[2] ?? '';
    const lines = detailsOf(command).about === undefined ? [] : about.split('\n');
    const early = lines.filter((line, at) => {
      const [next] = lines[at + 1]?.split(' ') ?? [];
      return next !== undefined && `${line} ${next}`.length < COLUMNS;
    });
    expect(early).toEqual([]);
  });

  test('has one line for each command and each flag', () => {
    const format = command.createHelp();
    const listed = [...format.visibleCommands(command), ...format.visibleOptions(command)];
    const lines = help.split('\n');
    const at = (text: string) => lines.filter((line) => line.includes(text));
    for (const one of listed) {
      const words = 'flags' in one ? format.optionDescription(one) : format.subcommandDescription(one);
      expect(at(words), `${words}: no line has all of it`).not.toEqual([]);
    }
  });

  test('begins with an imperative that is also in the list', () => {
    expect(command.summary()).toMatch(/^[a-z][^.]*[^.]$/u);
  });

  test('has examples that are commands of lifeboat', async () => {
    const examples = (detailsOf(command).examples ?? []).join('\n').replaceAll(/^/gmu, '    ');
    expect(await wrongAmong(commandsIn(examples))).toEqual([]);
  });
});
