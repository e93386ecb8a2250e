import { describe, expect, test } from 'vitest';
import { commandLine } from '../../src/cli/program.ts';
import { linesFor, offerFor } from '../../src/commands/completion/candidates.ts';

const PROGRAM = commandLine('0.0.0');

/** What is offered for a line of words, the last one as far as it is typed. */
function offered(...words: string[]) {
  const offer = offerFor(PROGRAM, words);
  const lines = linesFor('bash', words.at(-1) ?? '', offer, []);
  return { lines, sources: offer.sources, config: offer.config };
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

  test('flags are those of the command, without those that are hidden', () => {
    const flags = offered('run', 'rotate-key', '-').lines;
    expect(flags).toEqual(expect.arrayContaining(['--instance', '-i', '--dry-run', '--output', '--config']));
    expect(offered('backups', '-').lines).toEqual(['--help', '-h']);
    expect(offered('').lines).not.toContain('complete');
  });

  test.each([
    [['run', ''], ['runbooks']],
    [['run', 'rotate-key', ''], ['instances']],
    [['run', 'rotate-key', '--target', ''], ['instances']],
    [['run', 'rotate-key', 'orders', '--yes', '--confirm', ''], ['instances']],
    [['keys', 'list', '-i', ''], ['instances']],
    [['resume', ''], ['runs']],
    [['report', '--compare', '01A', ''], ['runs']],
    [['audit', 'verify', ''], ['runs']],
    [['approvals', 'accept', ''], ['runs']],
    [['followups', 'done', ''], ['followUps']],
    [['calls', 'ask', ''], ['calls']],
    [['calls', 'resolve', ''], ['calls']],
    [['lab', '--scenario', ''], ['scenarios']],
    [['schema', ''], ['schemas']],
    [['status', ''], ['instances']],
    [['status', 'orders', ''], ['instances']],
    [['status', '-i', ''], ['instances']],
    [['notify', 'test', ''], ['targets']],
    [['keys', 'add', 'orders', '--as', ''], ['fingerprints']],
    [['dr', 'perform', '--key', ''], ['fingerprints']],
    [['backups', 'get', ''], []],
  ] as const)('%j takes one of %j', (words, sources) => {
    expect(offered(...words).sources).toEqual(sources);
  });

  test('the config is the one that the line names', () => {
    expect(offered('--config', './a.yaml', 'run', 'rotate-key', '').config).toBe('./a.yaml');
    expect(offered('run', '--config=./b.yaml', 'rotate-key', '').config).toBe('./b.yaml');
  });
});

describe('a value', () => {
  const offer = { fixed: [], sources: [], files: false, before: '', config: undefined, named: [] };
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
