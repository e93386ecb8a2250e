import { describe, expect, test } from 'vitest';
import { commandLine } from '../../src/cli/program.ts';
import { linesFor, offerFor } from '../../src/commands/completion/complete.ts';

const PROGRAM = commandLine('0.0.0');

/** What is offered for a line of words, the last one as far as it is typed. */
function offered(...words: string[]) {
  const offer = offerFor(PROGRAM, words);
  const lines = linesFor('bash', words.at(-1) ?? '', offer, []);
  return { lines, source: offer.source };
}

describe('at the end of a line', () => {
  test.each([
    [['ru'], ['run', 'runs']],
    [['audit', 'ver'], ['verify']],
    [['-o', 'json', 'backups', 'l'], ['list']],
    [['backups', '--json', 'l'], ['list']],
    [
      ['runs', '-o', ''],
      ['table', 'json', 'yaml'],
    ],
    [['runs', '--output', 'j'], ['json']],
    [['runs', '--output=j'], ['json']],
    [
      ['report', 'last', '--format', ''],
      ['md', 'json', 'html'],
    ],
    [
      ['run', 'change-instance', '--action', 're'],
      ['restart', 'recreate'],
    ],
    [['followups', 's'], ['skip']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['verify', ''], [':files']],
    [['verify', 'x', '--key-file', ''], [':files']],
    [['--config', ''], [':files']],
    [['run', 'rotate-key', '--reason', ''], []],
    [['nosuch', ''], []],
    [
      ['help', 'backups', ''],
      ['list', 'get', 'create', 'download', 'restore'],
    ],
    [['help', 'backups', 'l'], ['list']],
    [['help', 'backups', 'list', ''], []],
    [['help', 'nosuch', ''], []],
    [
      ['help', 'ru'],
      ['run', 'runs'],
    ],
    [['--instance', ''], []],
    [
      ['--instance', 'orders', 'ru'],
      ['run', 'runs'],
    ],
    [['runs', '--nosuch='], []],
    [['report', '--', '--form'], []],
  ] as const)('%j: %j', (words, lines) => {
    expect(offered(...words).lines).toEqual(lines);
  });

  test('flags are those of the command, without hidden ones', () => {
    const flags = offered('run', 'rotate-key', '-').lines;
    expect(flags).toEqual(expect.arrayContaining(['--instance', '-i', '--dry-run', '--output', '--config']));
    expect(offered('backups', '-').lines).toEqual(['--help', '-h']);
    expect(offered('').lines).not.toContain('complete');
  });

  test.each([
    [['run', ''], 'runbooks'],
    [['lab', '--scenario', ''], 'scenarios'],
    [['schema', ''], 'schemas'],
    [['run', 'rotate-key', ''], undefined],
    [['--config', './a.yaml', 'run', ''], 'runbooks'],
    [['--config=./a.yaml', 'run', ''], 'runbooks'],
    [['resume', ''], undefined],
    [['backups', 'get', ''], undefined],
  ] as const)('%j takes one of %j', (words, source) => {
    expect(offered(...words).source).toEqual(source);
  });
});

describe('a value', () => {
  const offer = { fixed: [], source: undefined, files: false, before: '' };
  const found = [
    { value: 'orders', about: 'with: a colon, and \u001b[31m' },
    { value: 'or;rm', about: '' },
    { value: '$(rm)', about: '' },
    { value: 'o`r`', about: '' },
    { value: 'or\tders', about: '' },
  ];

  test.each([
    ['bash', 'orders'],
    ['zsh', 'orders:with: a colon, and \ufffd[31m'],
    ['fish', 'orders\twith: a colon, and \ufffd[31m'],
  ])('for %s is one that the shell neither expands nor runs: %j', (shell, line) => {
    expect(linesFor(shell, 'o', offer, found)).toEqual([line]);
  });
});
