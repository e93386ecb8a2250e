import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { runbooks } from '../../machines/index.ts';
import { parse } from '../../src/cli/program.ts';
import { commandsIn } from './commands-in.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PROSE = readdirSync(join(ROOT, 'runbooks')).map((file) => join('runbooks', file));

describe.each(['README.md', ...PROSE])('%s', (file) => {
  const commands = commandsIn(readFileSync(join(ROOT, file), 'utf8'));

  it('names commands of lifeboat only with a runbook and flags that they have', async () => {
    expect(commands.length).toBeGreaterThan(0);
    const wrong: string[] = [];
    for (const { words, flags, text } of commands) {
      const help = await helpOf(words);
      if (help === undefined) wrong.push(text);
      wrong.push(
        ...flags
          .filter((flag) => help?.match(new RegExp(`${flag}(?![\\w-])`)) === null)
          .map((flag) => `${flag} in ${text}`),
      );
      const [command, runbook = ''] = words;
      const isOfRunbook = command === 'run' || command === 'drill';
      if (isOfRunbook && /^[a-z]/.test(runbook) && !Object.hasOwn(runbooks, runbook)) wrong.push(text);
    }
    expect(wrong).toEqual([]);
  });
});

describe('what is asked of a command', () => {
  it.each([
    [['frobnicate'], false],
    [['followups', 'frobnicate'], false],
    [['runs', 'frobnicate'], false],
    [['followups'], true],
    [['followups', 'done'], true],
    [['run', 'rotate-key'], true],
    [[], true],
  ])('%j exists: %s', async (words, exists) => {
    expect((await helpOf(words)) !== undefined).toBe(exists);
  });
});

describe('commands in a text', () => {
  it('are found in code spans, also over a line break, and in blocks, without the words that stand for something', () => {
    const text =
      'Run `lifeboat followups done ID\n--proof TEXT`, not lifeboat itself.\n\n    npm run lifeboat -- doctor  # checks\n    lifeboat lab > lifeboat.yaml\n';
    expect(commandsIn(text)).toEqual([
      { words: ['followups', 'done'], flags: ['--proof'], text: 'lifeboat followups done ID --proof TEXT' },
      { words: ['doctor'], flags: [], text: 'lifeboat doctor' },
      { words: ['lab'], flags: [], text: 'lifeboat lab' },
    ]);
  });
});

/** The help of a command, as its user sees it; undefined when there is no such command. */
async function helpOf(words: readonly string[]): Promise<string | undefined> {
  const help = await printedBy([...words, '--help']);
  const [, path = '', rest = ''] = /^Usage: lifeboat ?([a-z -]*?) ?\[options\](.*)$/m.exec(help) ?? [];
  const known = path.split(' ').filter((word) => word !== '');
  const takesMore = /<|\[(?!command)/.test(rest);
  const fits = words.length === known.length || (words.length > known.length && takesMore);
  return fits && known.every((word, at) => word === words[at]) ? help : undefined;
}

async function printedBy(argv: readonly string[]): Promise<string> {
  let printed = '';
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(process[stream], 'write').mockImplementation((chunk) => {
      printed += String(chunk);
      return true;
    }),
  );
  try {
    await parse(argv, '0.0.0');
    return printed;
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
