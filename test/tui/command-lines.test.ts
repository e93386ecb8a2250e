import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { commandLines, type Quoting } from '../../src/tui/command-lines.ts';
import { lineWidth, textOf } from '../../src/tui/line.ts';

const COMMANDS = [
  `cf bind-service orders-api orders-dr -c '{"role":  "read  write"}' --binding-name a-name-that-is-long-and-has-no-end`,
  `printf '%s|' "two  words" 'it'\\''s' a\\ b "say \\"hi\\" to $HOME" 'back\\slash' plain`,
  `printf '%s' '${'x'.repeat(200)}' "${'y'.repeat(200)}" ${'z'.repeat(200)}`,
];

/** What the words of a command become in a shell. */
function words(script: string): string {
  return execFileSync('bash', ['-c', `cf() { printf '<%s>' "$@"; }\n${script}`], {
    encoding: 'utf8',
    env: { HOME: 'the home of somebody', PATH: process.env['PATH'] },
  });
}

describe('a command on a screen that is too narrow for it', () => {
  it.each([12, 20, 37, 80])('is the same command when it is copied from %i columns', (width) => {
    for (const command of COMMANDS) {
      const { lines } = commandLines(command, width, { lead: '    ' });
      const copied = lines.map(textOf).join('\n');
      expect(words(copied)).toBe(words(command));
      for (const line of lines) expect(lineWidth(line)).toBeLessThanOrEqual(width);
    }
  });

  it('is unchanged where it fits', () => {
    expect(commandLines('cf target -o acme', 80).lines).toEqual([
      [{ text: 'cf target -o acme', token: 'text.code' }],
    ]);
  });

  it('reports the quoting state at the end of a row, for the row that follows', () => {
    const left = (text: string, quoting: Quoting = 'none') => commandLines(text, 80, { quoting }).quoting;
    expect(left(`say 'one`)).toBe('single');
    expect(left(`two'`, 'single')).toBe('none');
    expect(left(`say "it's`)).toBe('double');
  });
});
