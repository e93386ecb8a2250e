import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandsIn } from './commands-in.ts';
import { helpOf, wrongAmong } from './wrong-commands.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const DOCUMENTS = ['runbooks', 'docs'].flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => join(folder, file)),
);

describe.each(['README.md', ...DOCUMENTS])('%s', (file) => {
  const commands = commandsIn(readFileSync(join(ROOT, file), 'utf8'));

  it('names commands of lifeboat only with existing runbooks and flags', async () => {
    expect(commands.length).toBeGreaterThan(0);
    expect(await wrongAmong(commands)).toEqual([]);
  });
});

describe('a command in the docs', () => {
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
  it('are found in code spans, also across a line break, and in blocks, without placeholder words', () => {
    const text =
      'Run `lifeboat followups done ID\n--proof TEXT`, not lifeboat itself.\n\n    npm run lifeboat -- doctor  # checks\n    lifeboat lab > lifeboat.yaml\n';
    expect(commandsIn(text)).toEqual([
      { words: ['followups', 'done'], flags: ['--proof'], text: 'lifeboat followups done ID --proof TEXT' },
      { words: ['doctor'], flags: [], text: 'lifeboat doctor' },
      { words: ['lab'], flags: [], text: 'lifeboat lab' },
    ]);
  });
});
