import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleScreen } from '../bench-kit/bundle-screen.ts';
import { hasTerminal, openPseudoTerminal } from '../bench-kit/pseudo-terminal.ts';

/* The screen of a plan over five hundred instances, bundled, in a real pseudo-terminal. */
const folder = mkdtempSync(join(tmpdir(), 'lifeboat-plan-pty-'));
let program = '';

beforeAll(async () => {
  program = await bundleScreen('test/bench/tui-plan.ts', folder);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(!hasTerminal())('the screen of a plan in a real terminal', () => {
  it('scrolls to the last of five hundred instances, and gives the terminal back after q', async () => {
    // is-in-ci asks whether these exist at all, and Ink then draws nothing.
    const { CI: _, CONTINUOUS_INTEGRATION: __, ...env } = process.env as Record<string, string>;
    const terminal = openPseudoTerminal(
      `'${process.execPath}' '${program}'; echo "rc=$?"; stty -a | tr '\\n' ' '; echo END`,
      {
        env: { ...env, TERM: 'xterm-256color', LANG: 'C.UTF-8', EVENTS: '0' },
        size: { cols: 80, rows: 24 },
      },
    );
    const until = async (wanted: string) => {
      await expect.poll(terminal.text, { timeout: 80_000, interval: 20 }).toContain(wanted);
    };
    try {
      await until('db-1 -> db-1-dr');
      terminal.type('G');
      await until('db-500 -> db-500-dr');
      terminal.type('q');
      await until('END');
      expect(terminal.isTaken()).toBe(false);
      expect(terminal.text()).toContain('rc=0');
      expect(terminal.text()).toMatch(/ icanon /u);
    } finally {
      terminal.hangUp();
    }
  });
});
