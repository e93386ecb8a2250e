import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { QUIET_MS, SEVERAL_LINES } from '../view/question-words.ts';
import type { Streams } from './terminal.ts';

/** One line at a time, from the operator. */
export interface Asker {
  /** Without its end; undefined when the terminal has ended or the question is gone. */
  line(prompt: string, how?: 'shown' | 'hidden'): Promise<string | undefined>;
  say(text: string): void;
  /** Drops input until the next `line`. */
  pause(): void;
  close(): void;
}

/** The terminal marks where a paste begins and ends, or stops doing so. */
const [PASTES_MARKED, PASTES_PLAIN] = ['\u001b[?2004h', '\u001b[?2004l'];

/** Undefined on Escape, or when the terminal is closed or the signal comes first. */
export async function typedLine(
  streams: Streams,
  prompt: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const asker = openAsking(streams, signal);
  const hear = (_text: unknown, key?: { readonly sequence?: string }) => {
    if (key?.sequence === '\u001b') asker.close();
  };
  streams.stdin.on('keypress', hear);
  try {
    return await asker.line(prompt);
  } finally {
    streams.stdin.off('keypress', hear);
    asker.close();
  }
}

/**
 * Readline reads the lines: it leaves editing to the terminal's habits and keeps a hidden line off the
 * screen. Ends with `signal`.
 */
export function openAsking({ stdin, stderr, env }: Streams, signal: AbortSignal): Asker {
  let hidden = false;
  const output = new Writable({
    write: (chunk, _encoding, done) => {
      if (!hidden) stderr.write(chunk);
      done();
    },
  });
  const reader = createInterface({ input: stdin, output, terminal: true, historySize: 0 });
  let taker: ((line: string | undefined) => void) | undefined;
  let asked: { readonly prompt: string; readonly isHidden: boolean } | undefined;
  let paste: { readonly before: string; readonly lines: string[] } | undefined;
  let lastHeard = 0;
  const interrupt = () => process.kill(process.pid, 'SIGINT');
  const hear = (_text: unknown, key?: { readonly name?: string; readonly sequence?: string }) => {
    lastHeard = performance.now();
    // Readline takes Ctrl-C right after Escape for an Alt key, which means nothing.
    if (/^\u001b+\u0003$/u.test(key?.sequence ?? '')) interrupt();
    if (key?.name === 'paste-start') paste = { before: reader.line, lines: [] };
    if (key?.name === 'paste-end') endPaste();
  };
  stdin.on('keypress', hear);
  // A paste never submits: its text stays in the line and waits for a pressed key. Joined lines would be one
  // line that the operator has not written.
  const endPaste = () => {
    const { before = '', lines = [] } = paste ?? {};
    paste = undefined;
    if (lines.length === 0) return;
    const given = [...lines, reader.line].filter((line, at) => line !== '' || at === 0);
    Object.assign(reader, { line: '', cursor: 0 });
    if (asked === undefined) return;
    if (given.length > 1) stderr.write(`${SEVERAL_LINES}\n`);
    stderr.write(asked.prompt);
    hidden = asked.isHidden;
    reader.write(given.length > 1 ? before : (given[0] ?? ''));
  };
  const take = (line: string | undefined) => {
    if (paste !== undefined && line !== undefined) {
      paste.lines.push(line);
      hidden = true;
      return;
    }
    const current = taker;
    taker = undefined;
    asked = undefined;
    current?.(line);
  };
  reader.on('line', take);
  reader.on('close', () => take(undefined));
  // In every other mode of the terminal Ctrl-C is a signal; readline only reports it.
  reader.on('SIGINT', interrupt);
  const marksPastes = env['TERM'] !== 'dumb';
  if (marksPastes) stderr.write(PASTES_MARKED);
  const close = () => reader.close();
  signal.addEventListener('abort', close, { once: true });
  let closed = signal.aborted;
  reader.on('close', () => {
    closed = true;
    stdin.off('keypress', hear);
    if (marksPastes) stderr.write(PASTES_PLAIN);
  });
  if (signal.aborted) close();

  return {
    line: async (prompt, how = 'shown') => {
      hidden = true;
      await quiet(() => lastHeard);
      if (closed) return undefined;
      Object.assign(reader, { line: '', cursor: 0 });
      asked = { prompt, isHidden: how === 'hidden' };
      stderr.write(prompt);
      hidden = asked.isHidden;
      const line = await new Promise<string | undefined>((resolve) => {
        taker = resolve;
      });
      if (how === 'hidden') stderr.write('\n');
      hidden = false;
      return line;
    },
    say: (text) => stderr.write(`${text}\n`),
    pause: () => {
      hidden = true;
    },
    close,
  };
}

/**
 * Resolves after `QUIET_MS` without input. Input from before a prompt was readable, from a held key or a
 * paste of several lines, is meant for something else and is dropped.
 */
async function quiet(lastHeard: () => number): Promise<void> {
  const began = performance.now();
  for (;;) {
    const left = Math.max(began, lastHeard()) + QUIET_MS - performance.now();
    if (left <= 0) return;
    // After the timer Node reads pending input, and then calls the immediate: a key that arrived while the
    // process was held up is seen before the next check.
    await new Promise((resolve) => setTimeout(() => setImmediate(resolve), left));
  }
}
