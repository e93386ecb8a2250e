import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rebindId } from '../../machines/closing/evaluate.ts';
import { allRunbooks } from '../../machines/index.ts';
import { durationFrom, wholeNumber } from '../../src/cli/numbers.ts';
import { parseSource, ROOT, readSourceFiles } from '../architecture/source-files.ts';
import { examplesOfHelp, hintsIn, parsedLine, wordsOfLine } from './command-lines.ts';
import { commandsIn } from './commands-in.ts';

/** What begins with `lifeboat` and is for no person: a script of a shell, the name of a connection. */
const NO_HINTS = ['src/commands/completion/completion.ts', 'src/store/postgres/moving.ts: lifeboat store'];
/** The command itself is filled in, so that its flags cannot be read here. */
const FILLED_IN = 'src/runner/assert-not-in-doubt.ts: lifeboat X --instance X';

const isCommand = (word: string) =>
  /^[a-z]/.test(word) && !/unknown command|too many/.test(parsedLine([word]).refusal ?? '');
const HINTS = readSourceFiles()
  .flatMap((file) => hintsIn(file, isCommand))
  .filter(({ where }) => !NO_HINTS.some((one) => where.startsWith(one)) && where !== FILLED_IN);

describe('the examples of the help texts', () => {
  const examples = examplesOfHelp().map((line) => ({ line, ...parsedLine(wordsOfLine(line)) }));

  it('are read by the definitions of the commands', () => {
    expect(examples.length).toBeGreaterThan(50);
    expect(examples.filter(({ refusal }) => refusal !== undefined)).toEqual([]);
  });

  it('use valid durations and numbers', () => {
    const given = (flag: string) =>
      examples.flatMap(({ flags }) => (typeof flags[flag] === 'string' ? [flags[flag]] : []));
    expect(given('olderThan').length).toBeGreaterThan(1);
    for (const time of given('olderThan')) expect(() => durationFrom(time, 'older-than')).not.toThrow();
    for (const number of [...given('limit'), ...given('backup'), ...given('keep'), ...given('retentionTime')])
      expect(() => wholeNumber(number, 'it', 1)).not.toThrow();
  });

  it('name a follow-up in the same form as a run does', () => {
    const ids = examples.flatMap(
      ({ line }) => /lifeboat followups (?:run|done|skip) (\S+)/.exec(line)?.[1] ?? [],
    );
    expect(new Set(ids)).toEqual(new Set([rebindId('orders-api')]));
  });
});

describe('the commands that texts of the program hand to a person', () => {
  const lines = HINTS.map(({ where, words }) => ({ where, ...parsedLine(words) }));

  it('are read by the definitions of the commands', () => {
    expect(lines.length).toBeGreaterThan(250);
    expect(lines.filter(({ refusal }) => refusal !== undefined && refusal !== HELP)).toEqual([]);
  });

  it('name the instance where a config with several would otherwise be ambiguous', () => {
    expect(lines.filter(({ lacksInstance }) => lacksInstance).map(({ where }) => where)).toEqual([]);
  });
});

/** What the parser throws for `--help`. */
const HELP = '(outputHelp)';

describe('the commands that a runbook hands to a person in a state', () => {
  it.each([...allRunbooks.map(({ id }) => id), 'phases'])(
    '%s: can be parsed by the definitions of the commands',
    (id) => {
      const commands = commandsIn(readFileSync(join(ROOT, 'runbooks', `${id}.md`), 'utf8'));
      expect(commands.length).toBeGreaterThan(0);
      const wrong = commands.filter(({ text }) => parsedLine(wordsOfLine(text)).refusal !== undefined);
      expect(wrong.map(({ text }) => text)).toEqual([]);
    },
  );
});

describe('a command that is found in a source', () => {
  it('is in backticks or after a colon, joined from its parts, without the text around it', () => {
    const text = `
      // lifeboat frobnicate
      const one = ['it waits: lifeboat resume ' + run + ', or look', \`or: lifeboat keys add \${name}\${config}\`];
      const two = 'the lifeboat that wrote it; \`lifeboat frobnicate --now\` does it';
    `;
    const found = hintsIn(parseSource('src/base/planted.ts', text), isCommand);
    expect(found.map(({ words }) => words)).toEqual([
      ['resume', 'X'],
      ['keys', 'add', 'X'],
      ['frobnicate', '--now'],
    ]);
    expect(parsedLine(['frobnicate', '--now']).refusal).toContain('unknown');
    expect(parsedLine(['run', 'rotate-key']).lacksInstance).toBe(true);
    expect(parsedLine(['run', 'rotate-key', 'orders']).lacksInstance).toBe(false);
    expect(parsedLine(['keys', 'list']).lacksInstance).toBe(false);
  });
});
