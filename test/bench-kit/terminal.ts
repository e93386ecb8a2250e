import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import xterm from '@xterm/headless';
import type { ExpectStatic } from 'vitest';
import { FIRST_REPEAT_MS } from '../../src/tui/keyboard.ts';
import { pictureOf } from '../docs/screen-picture.ts';
import { isRunning, treeOf } from './process-tree.ts';
import type { Product } from './product.ts';
import type { TestBench } from './test-bench.ts';

/*
 * A terminal of 100 x 30 that a person could sit at: the pseudo-terminal comes from util-linux `script`,
 * whose options differ elsewhere (macOS), what stands on the screen from the emulator that editors use.
 */

const SIZE = { cols: 100, rows: 30 };

export const KEYS = {
  enter: '\r',
  down: '\u001b[B',
  up: '\u001b[A',
  escape: '\u001b',
  clear: '\u0015',
} as const;

/** Whether this machine has util-linux `script`. */
export function hasTerminal(): boolean {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
}

export interface Terminal {
  /** What can be read now, in the scrollback too. */
  text(): string;
  /** Everything that was ever written to it. */
  bytes(): string;
  /** What stands on its screen, as an SVG image. */
  picture(): string;
  /** Whether a full-screen program has the screen. */
  isTaken(): boolean;
  /** Whether the cursor is to be seen, as the last of its switches says. */
  hasCursor(): boolean;
  type(keys: string): void;
  close(): Promise<void>;
}

/**
 * Runs a command in a shell of its own; after it, the shell tells its exit code (`rc=0`) and the settings of
 * the terminal. With `stops` the command is going to be stopped: the shell then tells the settings (`$
 * stopped`), waits for Enter and continues it.
 */
export function openTerminal(
  product: Product,
  bench: Pick<TestBench, 'env'>,
  args: readonly string[],
  { stops = false }: { readonly stops?: boolean } = {},
): Terminal {
  return openProgram([process.execPath, product.cli, ...args], product, bench, { stops });
}

/** The same for another program, such as a shell. */
export function openProgram(
  words: readonly string[],
  product: Product,
  bench: Pick<TestBench, 'env'>,
  { stops = false }: { readonly stops?: boolean } = {},
): Terminal {
  const command = words.map((word) => `'${word}'`).join(' ');
  const settings = `stty -a | tr '\\n' ' '`;
  const stopped = stops ? `; ${settings}; echo '$ stopped'; read -r _; fg` : '';
  const shell = `${stops ? 'set -m; ' : ''}echo '$ before'; stty cols ${SIZE.cols} rows ${SIZE.rows}; ${command}${stopped}; echo "rc=$?"; ${settings}; echo '$ after'`;
  // Ink draws nothing where CI is set, so nothing of this environment is handed on.
  const child = spawn('script', ['-qfec', shell, '/dev/null'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      NODE_COMPILE_CACHE: product.compiled,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      ...bench.env,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const terminal = new xterm.Terminal({ ...SIZE, scrollback: 500, allowProposedApi: true });
  let bytes = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    bytes += chunk;
    terminal.write(chunk);
  });
  return {
    text: () => {
      const { active } = terminal.buffer;
      const lines = Array.from({ length: active.length }, (_, row) =>
        active.getLine(row)?.translateToString(true),
      );
      return lines.join('\n');
    },
    bytes: () => bytes,
    picture: () => pictureOf(terminal.buffer.active, SIZE),
    isTaken: () => terminal.buffer.active.type === 'alternate',
    hasCursor: () => bytes.lastIndexOf('\u001b[?25h') >= bytes.lastIndexOf('\u001b[?25l'),
    type: (keys) => void child.stdin.write(keys),
    close: () => end(child),
  };
}

/** Ends everything in the terminal. What only lost its terminal would still write its last words. */
async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  const tree = treeOf(child.pid);
  for (const pid of tree) kill(pid);
  await gone;
  while (tree.some(isRunning)) await pause(5);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** Somebody who reads before typing. */
export function personAt(terminal: Terminal, expect: ExpectStatic) {
  const shows = async (wanted: string | RegExp) => {
    await expect.poll(() => terminal.text(), { timeout: 10_000, interval: 20 }).toMatch(wanted);
  };
  /**
   * Shows something to answer, long enough for a key to be taken for an answer to it. Nobody reads faster.
   */
  const asks = async (wanted: string | RegExp) => {
    await shows(wanted);
    await pause(FIRST_REPEAT_MS);
  };
  return {
    ...terminal,
    shows,
    asks,
    /**
     * Holds a key down for so many of its repeats, as a terminal sends them: after a delay, then thirty a
     * second.
     */
    hold: async (key: string, repeats: number) => {
      terminal.type(key);
      await pause(500);
      for (let at = 0; at < repeats; at += 1) {
        terminal.type(key);
        await pause(33);
      }
    },
    /** Takes the recommended answers as far as the name that has to be typed. */
    answerToTheChange: async () => {
      await asks('prove the newest first?');
      terminal.type(KEYS.enter);
      await asks('where does the new key come from?');
      terminal.type(KEYS.enter);
      await asks("type the instance's name");
    },
    /** Has maintenance updates forbidden for the time of the run. */
    holdUpdatesBack: async () => {
      await asks('hold them back?');
      terminal.type(KEYS.down);
      await shows(/❯ they are allowed now/u);
      terminal.type(KEYS.enter);
      await asks('how do you know that they are allowed now?');
      terminal.type('the platform team says so');
      await shows('allowed now?: the platform team says so');
      terminal.type(KEYS.enter);
    },
    confirm: async () => {
      terminal.type('orders');
      await shows('❯ orders');
      terminal.type(KEYS.enter);
    },
    isGivenBack: async (exitCode: number) => {
      await shows('$ after');
      expect(terminal.isTaken()).toBe(false);
      expect(terminal.hasCursor()).toBe(true);
      expect(terminal.text()).toContain('$ before');
      expect(terminal.text()).toContain(`rc=${exitCode}`);
      // Canonical mode and echo, as stty(1) sees them.
      expect(terminal.text().replaceAll('\n', '')).toMatch(/ icanon .* echo /u);
    },
  };
}
