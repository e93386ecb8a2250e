import type { Command } from 'commander';
import { EXIT } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import { type Candidate, linesFor, offerFor, type Source } from './candidates.ts';

/**
 * `lifeboat complete SHELL -- WORDS`: the completions of the last word, one per line, or the line `:files`.
 * For the scripts of `lifeboat completion`. Reads neither config nor journal, and never prompts. On any error
 * it prints nothing and exits with 0.
 */
export function completeOn(program: Command) {
  return async (context: CommandContext, [shell = '', ...words]: readonly string[]): Promise<number> => {
    try {
      const typed = shell === 'bash' ? joined(words) : words;
      const offer = offerFor(program, typed);
      const found = offer.source === undefined ? [] : await WORDS[offer.source]();
      for (const line of linesFor(shell, typed.at(-1) ?? '', offer, found)) context.stdout.write(`${line}\n`);
    } catch {
      // The user is typing: an error message would corrupt the line.
    }
    return EXIT.closed;
  };
}

/** Bash passes `--output=json` as three words. */
function joined(words: readonly string[]): readonly string[] {
  const all: string[] = [];
  for (const word of words) {
    const before = all.at(-1) ?? '';
    const isEnd = word === '=' && /^--[\w-]+$/u.test(before);
    if (isEnd || /^--[\w-]+=$/u.test(before)) all[all.length - 1] = `${before}${word}`;
    else all.push(word);
  }
  return all;
}

const WORDS: Readonly<Record<Source, () => Promise<readonly Candidate[]>>> = {
  runbooks: async () => {
    const { RUNBOOKS } = await import('../../cli/help-texts.ts');
    return RUNBOOKS.map(([value, about]) => ({ value, about }));
  },
  scenarios: async () => {
    const { SCENARIOS } = await import('../../lab/scenarios/scenario.ts');
    return SCENARIOS.map(({ name, summary }) => ({ value: name, about: summary }));
  },
  schemas: async () => {
    const { listSchemas } = await import('../../cli/schemas/index.ts');
    return listSchemas().map(({ name, about }) => ({ value: name, about }));
  },
};
