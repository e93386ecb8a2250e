import { EventEmitter } from 'node:events';
import type { Streams } from '../../src/plain/terminal.ts';
import { openEmulator } from '../bench-kit/emulator.ts';

/**
 * A terminal in memory: what is written goes through the emulator, what is typed arrives as from a keyboard.
 */
export interface FakeTerminal {
  readonly streams: Streams;
  /** Everything that was written to stdout. */
  readonly bytes: () => string;
  readonly stderr: () => string;
  /** The rows as a person sees them. */
  readonly rows: () => string[];
  readonly screen: () => string;
  readonly isAlternate: () => boolean;
  readonly isRaw: () => boolean;
  /** Sends one key or sequence and lets the program see it before anything else. */
  type(...keys: string[]): Promise<void>;
  paste(text: string): Promise<void>;
  resize(columns: number, rows: number): void;
  /** Waits until the screen shows a text. */
  until(predicate: string | ((screen: string) => boolean)): Promise<void>;
  hangUp(): void;
}

export function createFakeTerminal(
  columns = 80,
  rows = 24,
  env: Streams['env'] = { LANG: 'C.UTF-8' },
): FakeTerminal {
  const terminal = openEmulator({ cols: columns, rows }, { raw: true });
  let written = '';
  let errors = '';
  const stdout = Object.assign(new EventEmitter(), {
    isTTY: true,
    columns,
    rows,
    writable: true,
    write: (data: string | Uint8Array, done?: (() => void) | string) => {
      written += String(data);
      terminal.write(data, typeof done === 'function' ? () => done() : undefined);
      return true;
    },
  });
  const stderr = Object.assign(new EventEmitter(), {
    isTTY: true,
    columns,
    rows,
    write: (data: string | Uint8Array) => {
      errors += String(data);
      return true;
    },
  });
  const queue: string[] = [];
  let raw = false;
  const stdin = Object.assign(new EventEmitter(), {
    isTTY: true,
    setEncoding: () => stdin,
    setRawMode: (on: boolean) => {
      raw = on;
      return stdin;
    },
    ref: () => stdin,
    unref: () => stdin,
    resume: () => stdin,
    pause: () => stdin,
    read: () => queue.shift() ?? null,
  });

  const visible = () => terminal.rows().map((row) => row.trimEnd());
  const screen = () => visible().join('\n');
  const until = async (predicate: string | ((text: string) => boolean)) => {
    const holds = () => (typeof predicate === 'string' ? screen().includes(predicate) : predicate(screen()));
    const deadline = Date.now() + 5000;
    while (!holds()) {
      if (Date.now() > deadline) throw new Error(`never seen: ${String(predicate)}\n${screen()}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const send = async (text: string) => {
    await until(() => stdin.listenerCount('readable') > 0);
    queue.push(text);
    stdin.emit('readable');
    await new Promise((resolve) => setImmediate(resolve));
  };

  return {
    streams: { stdin, stdout, stderr, env } as unknown as Streams,
    bytes: () => written,
    stderr: () => errors,
    rows: visible,
    screen,
    isAlternate: terminal.isTaken,
    isRaw: () => raw,
    type: async (...keys) => {
      for (const key of keys) await send(key);
    },
    paste: (text) => send(`\u001b[200~${text}\u001b[201~`),
    resize: (nextColumns, nextRows) => {
      terminal.resize({ cols: nextColumns, rows: nextRows });
      Object.assign(stdout, { columns: nextColumns, rows: nextRows });
      stdout.emit('resize');
    },
    until,
    hangUp: () => {
      stdout.writable = false;
      stdin.emit('end');
    },
  };
}

export const KEYS = {
  enter: '\r',
  escape: '\u001b',
  up: '\u001b[A',
  down: '\u001b[B',
  pageDown: '\u001b[6~',
  pageUp: '\u001b[5~',
  tab: '\t',
  backspace: '\u007f',
  ctrlC: '\u0003',
  ctrlU: '\u0015',
} as const;
