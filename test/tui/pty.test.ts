import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import xterm from '@xterm/headless';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { drawAtOnce } from '../../build/plugins.ts';
import { FIRST_REPEAT_MS } from '../../src/tui/keyboard.ts';

/*
 * The bundle in a real pseudo-terminal. It comes from util-linux `script`, whose options differ elsewhere
 * (macOS), so there these promises rest on the tests with a terminal in memory.
 */
const hasScript = (() => {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
})();

const folder = mkdtempSync(join(tmpdir(), 'lifeboat-pty-'));
const children: ChildProcess[] = [];

beforeAll(async () => {
  await build({
    entryPoints: ['test/tui/demo.tsx'],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    plugins: [drawAtOnce],
    define: { 'process.env.NODE_ENV': '"production"' },
    banner: {
      js: "import{createRequire as nodeRequire}from'node:module';const require=nodeRequire(import.meta.url);",
    },
    logLevel: 'error',
  });
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the demo in a pseudo-terminal of 80 x 24 and tells afterwards what state it left the terminal in. */
function start(args: string) {
  const pidFile = join(folder, `pid-${children.length}-${Date.now()}`);
  // is-in-ci asks whether these exist at all, and Ink then draws nothing.
  const { CI: _, CONTINUOUS_INTEGRATION: __, ...env } = process.env;
  const node = process.execPath;
  const command = `stty cols 80 rows 24; '${node}' '${join(folder, 'demo.mjs')}' ${args}; echo "rc=$?"; stty -a | tr '\\n' ' '; echo END`;
  const child = spawn('script', ['-qfec', command, '/dev/null'], {
    env: { ...env, TERM: 'xterm-256color', LANG: 'C.UTF-8', DEMO_PID_FILE: pidFile },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const terminal = new xterm.Terminal({ cols: 80, rows: 24, scrollback: 200, allowProposedApi: true });
  let bytes = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    bytes += chunk;
    terminal.write(chunk);
  });
  const text = () => {
    const { active } = terminal.buffer;
    return Array.from({ length: active.length }, (_, row) =>
      active.getLine(row)?.translateToString(true),
    ).join('\n');
  };
  const until = async (wanted: string) => {
    await expect.poll(text, { timeout: 8_000, interval: 20 }).toContain(wanted);
  };
  return {
    until,
    /** Waits for something to answer as a person does: until a key is taken for an answer to it. */
    asks: async (wanted: string) => {
      await until(wanted);
      await pause(FIRST_REPEAT_MS);
    },
    text,
    bytes: () => bytes,
    type: (keys: string) => child.stdin.write(keys),
    signal: (signal: NodeJS.Signals) => process.kill(Number(readFileSync(pidFile, 'utf8')), signal),
    hangUp: () => child.kill('SIGKILL'),
    isAlive: () => {
      try {
        return process.kill(Number(readFileSync(pidFile, 'utf8')), 0);
      } catch {
        return false;
      }
    },
    isAlternate: () => terminal.buffer.active.type === 'alternate',
    expectRestored: async () => {
      await until('END');
      expect(terminal.buffer.active.type).toBe('normal');
      expect(bytes.lastIndexOf('\u001b[?25h')).toBeGreaterThan(bytes.lastIndexOf('\u001b[?25l'));
      expect(bytes.lastIndexOf('\u001b[?2004l')).toBeGreaterThan(bytes.lastIndexOf('\u001b[?2004h'));
      // Canonical mode and echo, as stty(1) sees them.
      expect(text()).toMatch(/ icanon /u);
      expect(text()).toMatch(/ echo /u);
    },
  };
}

describe.skipIf(!hasScript)('a real terminal', () => {
  it('is restored after leaving with q, and says how to resume', async () => {
    const session = start('choice');
    await session.until('Enter choose');
    expect(session.isAlternate()).toBe(true);
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

  it('is restored after an error nobody has caught, and the error is readable', async () => {
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
    // What nobody could continue is not stopped: the kernel sees to that.
    { how: 'it was to be stopped where no shell could continue it', signals: ['SIGTSTP'] },
  ] as const)('is taken again and drawn anew after $how', async ({ signals }) => {
    const session = start('choice');
    await session.until('Enter choose');
    const taken = () => session.bytes().split('\u001b[?1049h').length;
    const before = taken();
    for (const signal of signals) session.signal(signal);
    await expect.poll(taken).toBeGreaterThan(before);
    await expect.poll(session.isAlternate).toBe(true);
    await session.until('Enter choose');
    session.type('q');
    await session.asks('leave this run?');
    session.type('\u0003');
    await session.expectRestored();
  });

  it('may vanish: the process then ends by itself', async () => {
    const session = start('choice');
    await session.until('Enter choose');
    session.hangUp();
    await expect.poll(() => session.isAlive(), { timeout: 8_000 }).toBe(false);
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
