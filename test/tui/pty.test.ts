import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bundleScreen } from '../bench-kit/bundle-screen.ts';
import { READING_MS } from '../bench-kit/person.ts';
import { hasTerminal, openPseudoTerminal, type Terminal } from '../bench-kit/pseudo-terminal.ts';

/* The bundle in a real pseudo-terminal. */
const folder = mkdtempSync(join(tmpdir(), 'lifeboat-pty-'));
const terminals: Terminal[] = [];

beforeAll(async () => {
  await bundleScreen('test/tui/demo.tsx', folder);
});

afterEach(() => {
  for (const terminal of terminals.splice(0)) terminal.hangUp();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the demo in a pseudo-terminal of 80 x 24 and tells afterwards what state it left the terminal in. */
function start(args: string) {
  const pidFile = join(folder, `pid-${terminals.length}-${Date.now()}`);
  // is-in-ci asks whether these exist at all, and Ink then draws nothing.
  const { CI: _, CONTINUOUS_INTEGRATION: __, ...env } = process.env as Record<string, string>;
  const command = `'${process.execPath}' '${join(folder, 'demo.mjs')}' ${args}; echo "rc=$?"; stty -a | tr '\\n' ' '; echo END`;
  const terminal = openPseudoTerminal(command, {
    env: { ...env, TERM: 'xterm-256color', LANG: 'C.UTF-8', DEMO_PID_FILE: pidFile },
    size: { cols: 80, rows: 24 },
  });
  terminals.push(terminal);
  const { bytes, text, isTaken } = terminal;
  const until = async (wanted: string) => {
    await expect.poll(text, { timeout: 80_000, interval: 20 }).toContain(wanted);
  };
  return {
    ...terminal,
    until,
    /** Waits for something to answer as a person does: until a key is taken for an answer to it. */
    asks: async (wanted: string) => {
      await until(wanted);
      await pause(READING_MS);
    },
    signal: (signal: NodeJS.Signals) => process.kill(Number(readFileSync(pidFile, 'utf8')), signal),
    isAlive: () => {
      try {
        return process.kill(Number(readFileSync(pidFile, 'utf8')), 0);
      } catch {
        return false;
      }
    },
    expectRestored: async () => {
      await until('END');
      expect(isTaken()).toBe(false);
      expect(bytes().lastIndexOf('\u001b[?25h')).toBeGreaterThan(bytes().lastIndexOf('\u001b[?25l'));
      expect(bytes().lastIndexOf('\u001b[?2004l')).toBeGreaterThan(bytes().lastIndexOf('\u001b[?2004h'));
      // Canonical mode and echo, as stty(1) sees them.
      expect(text()).toMatch(/ icanon /u);
      expect(text()).toMatch(/ echo /u);
    },
  };
}

describe.skipIf(!hasTerminal())('a real terminal', () => {
  it('is restored after leaving with q, and says how to resume', async () => {
    const session = start('choice');
    await session.until('Enter choose');
    expect(session.isTaken()).toBe(true);
    session.type('q');
    await session.asks('leave this run?');
    session.type('\u001b[B');
    await session.until('❯ leave');
    session.type('\r');
    await session.expectRestored();
    expect(session.text()).toContain('resume with: lifeboat resume');
    expect(session.text()).toContain('rc=130');
    expect(session.text()).toContain('calls: detach; answers: \n');
  });

  it.each(['SIGTERM', 'SIGHUP', 'SIGINT'] as const)(
    'is restored after %s, and the run is detached',
    async (signal) => {
      const session = start('choice');
      await session.until('Enter choose');
      session.signal(signal);
      await session.expectRestored();
      expect(session.text()).toContain('calls: detach');
    },
  );

  it('is restored after an uncaught error, and the error is readable', async () => {
    const session = start('choice crash');
    await session.until('Enter choose');
    await session.expectRestored();
    expect(session.text()).toContain('boom from a timer');
    expect(session.text()).toContain('rc=1');
  });

  it('is restored after the screen itself has broken', async () => {
    const session = start('choice broken');
    await session.until('Enter choose');
    await session.expectRestored();
    expect(session.text()).toMatch(/rc=[1-9]/u);
  });

  it.each([
    { how: 'the process was stopped and continued', signals: ['SIGSTOP', 'SIGCONT'] },
    // A process that could not be continued is not stopped: the kernel sees to that.
    { how: 'it was to be stopped where no shell could continue it', signals: ['SIGTSTP'] },
  ] as const)('is taken again and redrawn after $how', async ({ signals }) => {
    const session = start('choice');
    await session.until('Enter choose');
    const taken = () => session.bytes().split('\u001b[?1049h').length;
    const before = taken();
    for (const signal of signals) session.signal(signal);
    await expect.poll(taken).toBeGreaterThan(before);
    await expect.poll(session.isTaken).toBe(true);
    await session.until('Enter choose');
    session.type('q');
    await session.asks('leave this run?');
    session.type('\u0003');
    await session.expectRestored();
  });

  it('ignores a key release, and understands Ctrl-C as modifyOtherKeys sends it', async () => {
    const session = start('choice');
    await session.until('Enter choose');
    // `?` is pressed and let go, in the form of kitty: the help stays.
    session.type('\u001b[63;1:1u\u001b[63;1:3u');
    await session.until('this help');
    session.type('\u001b[27;1:1u\u001b[27;1:3u');
    await session.until('Enter choose');
    session.type('q');
    await session.asks('leave this run?');
    session.type('\u001b[27;5;99~');
    await session.expectRestored();
    expect(session.text()).toContain('rc=130');
  });

  it('may disappear: the process then ends by itself', async () => {
    const session = start('choice');
    await session.until('Enter choose');
    session.hangUp();
    await expect.poll(() => session.isAlive(), { timeout: 80_000 }).toBe(false);
  });

  it('shows the first frame before Ink has been loaded', async () => {
    const session = start('choice');
    await session.until('Enter choose');
    const [first = ''] = session.bytes().split('\u001b[?2026h');
    expect(first).toContain('REHEARSAL');
    expect(first).toContain('starting');
    session.signal('SIGTERM');
    await session.expectRestored();
  });
});
