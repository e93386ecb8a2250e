import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandLine } from '../../src/cli/program.ts';
import { describeWith } from '../keys/programs.ts';
import { manPage } from './command-pages.ts';

const FILE = join(import.meta.dirname, '../../man/lifeboat.1');

describeWith(['mandoc'], 'the manual page', () => {
  test('has no warning from mandoc, except that it has no date', () => {
    const { stdout } = spawnSync('mandoc', ['-Tlint', '-Wwarning', FILE], { encoding: 'utf8' });
    const warnings = stdout.split('\n').filter((line) => line !== '');
    expect(warnings.filter((line) => !line.includes('missing date'))).toEqual([]);
  });

  test('shows flags with dashes that can be copied, and every character of a placeholder', () => {
    const { stdout } = spawnSync('mandoc', ['-Tascii', FILE], { encoding: 'utf8' });
    const shown = stdout.replaceAll(/.\u0008/gu, '');
    expect(shown).toContain('--break-glass <reason>');
    expect(shown).toContain('lifeboat run [options] <runbook> [instance]');
    expect(shown).toContain('EXIT CODES');
  });
});

test('a text that looks like a request or an escape is printed as text', () => {
  const program = commandLine('0.0.0');
  program.summary('.so /etc/passwd \\n');
  expect(manPage(program, '0')).toContain('lifeboat \\- \\&.so /etc/passwd \\en');
});
