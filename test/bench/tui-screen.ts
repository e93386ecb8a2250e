import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { openEmulator } from '../bench-kit/emulator.ts';
import { treeOf } from '../bench-kit/process-tree.ts';
import { spawnTerminal } from '../bench-kit/pseudo-terminal.ts';

const SIZE = { cols: 100, rows: 30 };
const MARK = '@@begin@@';
/** Ink says so when a frame is whole. */
const FRAME_END = '\u001b[?2026l';
const DOWN = '\u001b[B';
const UP = '\u001b[A';
/** Longer than Ink waits between two frames, so that a key finds it idle. */
const BETWEEN_KEYS_MS = 90;
const TICKS_A_SECOND = 100;
const LIMIT_MS = 30_000;

/** A program on a terminal of its own, and what its screen costs. */
export interface Screened {
  /** Milliseconds from its start to a screen that shows what was waited for. */
  readonly firstMs: number;
  /** Milliseconds from each key to what it changed, and the bytes that said so. */
  keys(count: number): Promise<{ readonly ms: readonly number[]; readonly bytes: readonly number[] }>;
  /** Presses a key this many times, as fast as frames come, and waits for no single one. */
  hurry(count: number): Promise<void>;
  /** Processor time, in milliseconds, of this many seconds without a key. */
  rest(seconds: number): Promise<number>;
  /** Resident memory now. */
  residentMiB(): number;
  /** The rows that are on the screen. */
  rows(): Promise<readonly string[]>;
  /** Ends the program as a closed terminal does, and waits until it has. */
  close(): Promise<void>;
}

/** Starts a program and waits until its screen shows `wanted`. Rejects when it does not in half a minute. */
export async function openScreen(
  command: readonly string[],
  wanted: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Screened> {
  const line = `echo ${MARK}; exec ${command.map((word) => `'${word}'`).join(' ')}`;
  const child = spawnTerminal(line, { size: SIZE, env: { PATH: process.env['PATH'] ?? '', ...env } });
  let output = '';
  let began: number | undefined;
  let isHeard: (() => void) | undefined;
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
    if (began === undefined && output.includes(MARK)) began = performance.now();
    isHeard?.();
  });
  /** Resolves as soon as what has come since then fits. */
  const until = async (from: number, holds: (text: string) => boolean): Promise<number> => {
    const end = performance.now() + LIMIT_MS;
    while (!holds(output.slice(from))) {
      if (performance.now() > end) throw new Error(`the screen never came so far: ${output.slice(-2000)}`);
      const heard = Promise.withResolvers<void>();
      isHeard = heard.resolve;
      await Promise.race([heard.promise, pause(1_000)]);
    }
    return performance.now();
  };
  const shown = await until(0, (text) => text.includes(wanted));
  const pid = treeOf(child.pid ?? 0).at(-1) ?? 0;
  return {
    firstMs: shown - (began ?? shown),
    keys: async (count) => {
      const ms: number[] = [];
      const bytes: number[] = [];
      for (let at = 0; at < count; at += 1) {
        await pause(BETWEEN_KEYS_MS);
        const from = output.length;
        const pressed = performance.now();
        child.stdin.write(at % 2 === 0 ? DOWN : UP);
        ms.push((await until(from, (text) => text.includes('❯'))) - pressed);
        await until(from, (text) => text.includes(FRAME_END));
        bytes.push(Buffer.byteLength(output.slice(from)));
      }
      return { ms, bytes };
    },
    hurry: async (count) => {
      for (let at = 0; at < count; at += 1) {
        child.stdin.write(DOWN);
        await pause(5);
      }
      await pause(500);
    },
    rest: async (seconds) => {
      const before = cpuMsOf(pid);
      await pause(seconds * 1000);
      return cpuMsOf(pid) - before;
    },
    residentMiB: () => residentKiBOf(pid) / 1024,
    rows: async () => {
      const emulator = openEmulator(SIZE);
      await new Promise<void>((resolve) => emulator.write(output, resolve));
      return emulator.rows();
    },
    close: async () => {
      const ended = once(child, 'exit');
      // It keeps its compiled code as it ends, and the next one must not share the cores with that.
      if (child.exitCode === null && child.signalCode === null) {
        kill(pid);
        await ended;
      }
    },
  };
}

/** proc(5): user and system time, in ticks; the name in parentheses may hold blanks. */
function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_A_SECOND;
}

function residentKiBOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN);
}

function kill(pid: number): void {
  try {
    process.kill(pid);
  } catch {
    // It has ended by itself.
  }
}
