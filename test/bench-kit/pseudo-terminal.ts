import { type ChildProcess, type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { openEmulator, type Size } from './emulator.ts';
import { isRunning, treeOf } from './process-tree.ts';

/*
 * A terminal that a person could sit at. It comes from util-linux `script`, whose options differ elsewhere
 * (macOS), so there these promises rest on the tests with a terminal in memory.
 */

export const KEYS = {
  enter: '\r',
  down: '\u001b[B',
  up: '\u001b[A',
  escape: '\u001b',
  clear: '\u0015',
  ctrlC: '\u0003',
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
  /** The rows that are to be seen. */
  rows(): string[];
  /** Everything that was ever written to it. */
  bytes(): string;
  /** What stands on its screen, as an SVG image. */
  picture(): string;
  /** Whether a full-screen program has the screen. */
  isTaken(): boolean;
  /** Whether the cursor is to be seen, as the last of its switches says. */
  hasCursor(): boolean;
  type(keys: string): void;
  /**
   * When each byte that was typed reached the terminal, in milliseconds since it began. Asks for the option
   * `typed`.
   */
  typedAt(): readonly number[];
  /** Ends the terminal alone: what runs in it loses it. */
  hangUp(): void;
  /** Ends everything in it. */
  close(): Promise<void>;
  /** Of the terminal: its process, and the exit code of the shell, null when a signal ended it. */
  readonly pid: number | undefined;
  readonly ended: Promise<number | null>;
}

export interface TerminalOptions {
  readonly env: Readonly<Record<string, string>>;
  /** Default: 100 x 30. */
  readonly size?: Size;
  readonly cwd?: string;
  /** A file, made here, which keeps when each key reached the terminal. */
  readonly typed?: string;
}

/** Runs a line of the shell in a terminal. */
export function openPseudoTerminal(line: string, options: TerminalOptions): Terminal {
  const { size = { cols: 100, rows: 30 } } = options;
  const child = spawnTerminal(line, { ...options, size });
  const screen = openEmulator(size);
  let bytes = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    bytes += chunk;
    screen.write(chunk);
  });
  return {
    ...screen,
    bytes: () => bytes,
    hasCursor: () => bytes.lastIndexOf('\u001b[?25h') >= bytes.lastIndexOf('\u001b[?25l'),
    type: (keys) => void child.stdin.write(keys),
    typedAt: () => (options.typed === undefined ? [] : momentsOf(readFileSync(options.typed, 'utf8'))),
    hangUp: () => void child.kill('SIGKILL'),
    close: () => end(child),
    pid: child.pid,
    ended: new Promise((resolve) => child.once('close', resolve)),
  };
}

/** The same without an emulator. A program that ends early closes its terminal, which is no error here. */
export function spawnTerminal(
  line: string,
  { env, size, cwd, typed }: TerminalOptions,
): ChildProcessByStdio<Writable, Readable, null> {
  const sized = size === undefined ? line : `stty cols ${size.cols} rows ${size.rows}; ${line}`;
  const kept = typed === undefined ? ['/dev/null'] : ['-I', '/dev/null', '-T', typed];
  const child = spawn('script', ['-qfec', sized, ...kept], {
    env: { TERM: 'xterm-256color', LANG: 'C.UTF-8', ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.on('error', () => undefined);
  return child;
}

/** Lines `KIND SECONDS BYTES`, each so long after the one before (script(1), the timing of `-T`). */
function momentsOf(timing: string): number[] {
  const moments: number[] = [];
  let now = 0;
  for (const [, kind, seconds, bytes] of timing.matchAll(/^(\w) ([\d.]+) (\d+)$/gmu)) {
    now += Number(seconds) * 1_000;
    if (kind === 'I') moments.push(...Array.from({ length: Number(bytes) }, () => now));
  }
  return moments;
}

/** What only lost its terminal would still write its last words. */
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
