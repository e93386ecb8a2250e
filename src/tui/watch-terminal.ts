import process from 'node:process';
import type { Streams } from '../plain/terminal.ts';

/** Precision of `emptyAt` while it is followed and the process is not held up. */
const BEAT_MS = 20;

/** The earliest time at which input that is read now can have arrived. */
export interface Reading {
  /** Later input arrived after this time, however long the process was held up. Advances while followed. */
  emptyAt(): number;
  /** Advances `emptyAt` until it has reached this time. */
  follow(until: number): void;
}

/** Tracks when the process last had read all pending input, on the clock `now`, until `stop`. */
export function watchReading(now: () => number): Reading & { stop(): void } {
  let emptyAt = now();
  let end = emptyAt;
  let beating: NodeJS.Timeout | undefined;
  let confirming: NodeJS.Immediate | undefined;
  const beat = () => {
    const at = now();
    // Node reads input between timers and immediates, so all that came before `at` is read by then.
    confirming = setImmediate(() => {
      emptyAt = at;
      beating = emptyAt < end ? setTimeout(beat, BEAT_MS) : undefined;
    });
  };
  return {
    emptyAt: () => emptyAt,
    follow(until) {
      end = Math.max(end, until);
      if (emptyAt < end) beating ??= setTimeout(beat, BEAT_MS);
    },
    stop() {
      clearTimeout(beating);
      clearImmediate(confirming);
    },
  };
}

interface Suspension {
  resume(): Promise<void>;
}

interface TerminalEvents {
  /** The terminal is gone: its input has ended, or reading or writing fails. */
  readonly onLost: () => void;
  readonly onSignal: (signal: NodeJS.Signals) => void;
  /** Gives up the terminal until `resume`. */
  readonly suspend: () => Promise<Suspension> | undefined;
}

/** Time within which SIGCONT is delivered to a continued process. */
const CONTINUED_MS = 50;

const SIGNALS = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;

/**
 * Gives up the terminal while the process is stopped. `stop` restores the signals' default effects; errors of
 * a lost terminal stay handled, or they would end a process that writes its last entry.
 */
export function watchTerminal(streams: Streams, events: TerminalEvents): { stop(): void; isLost(): boolean } {
  const { stdin, stdout, stderr } = streams;
  let lost = false;
  const onLost = () => {
    lost = true;
    events.onLost();
  };
  for (const stream of [stdin, stdout, stderr]) stream.on('error', onLost);
  stdin.on('end', onLost);
  stdin.on('close', onLost);
  for (const signal of SIGNALS) process.on(signal, events.onSignal);

  let isStopping = false;
  const onStop = async () => {
    const suspension = await events.suspend();
    process.off('SIGTSTP', onSigtstp);
    // With the default effect, on the whole process group; without a shell that could continue it, nothing
    // happens.
    process.kill(0, 'SIGTSTP');
    await new Promise((resolve) => setTimeout(resolve, CONTINUED_MS));
    process.on('SIGTSTP', onSigtstp);
    await suspension?.resume();
  };
  const onSigtstp = () => {
    if (isStopping) return;
    isStopping = true;
    onStop()
      .catch(onLost)
      .finally(() => (isStopping = false));
  };
  // Stopped from outside (SIGSTOP): give up and take back the terminal, which sets its modes and redraws.
  const onContinue = async () => (await events.suspend())?.resume();
  const onSigcont = () => {
    if (!isStopping) void onContinue().catch(onLost);
  };
  process.on('SIGTSTP', onSigtstp);
  process.on('SIGCONT', onSigcont);

  return {
    isLost: () => lost,
    stop: () => {
      for (const signal of SIGNALS) process.off(signal, events.onSignal);
      process.off('SIGTSTP', onSigtstp);
      process.off('SIGCONT', onSigcont);
      stdin.off('end', onLost);
      stdin.off('close', onLost);
      if (lost) return;
      for (const stream of [stdin, stdout, stderr]) stream.off('error', onLost);
    },
  };
}

const [BEGINS, ENDS] = ['\u001b[200~', '\u001b[201~'];

/** A key as xterm's modifyOtherKeys sends it: modifiers, then the character. */
const OTHER_KEY = /\u001b\[27;(\d{1,3});(\d{1,7})~/gu;

/**
 * The stream with what Ink would lose. Ctrl-C also ends a paste that never ended, as after a dropped
 * connection: Ink would take every further key as part of it. Keys in the form of xterm's modifyOtherKeys,
 * which another program may have left on, are rewritten to kitty's form, because Ink knows only that one.
 */
export function readKeys(stdin: Streams['stdin']): Streams['stdin'] {
  let isPasting = false;
  let tail = '';
  const read = (...args: readonly []) => {
    const chunk: unknown = stdin.read(...args);
    if (typeof chunk !== 'string') return chunk;
    // Ctrl-C as a key comes in a chunk of its own; pasted, it comes with other text.
    const isCtrlC = /^(?:\u0003|\u001b\[27;5;99~)+$/u.test(chunk);
    if (isPasting && isCtrlC) {
      isPasting = false;
      return `${ENDS}\u0003`;
    }
    const seen = `${tail}${chunk}`;
    const [begun, ended] = [seen.lastIndexOf(BEGINS), seen.lastIndexOf(ENDS)];
    const wasPasting = isPasting;
    if (begun !== ended) isPasting = begun > ended;
    // A mark may be split over two chunks; keep too little for a whole one, so that none is found twice.
    tail = seen.slice(1 - BEGINS.length);
    // Pasted text is not changed.
    return wasPasting || begun !== -1 ? chunk : chunk.replace(OTHER_KEY, '\u001b[$2;$1u');
  };
  return new Proxy(stdin, {
    get: (target, name) => {
      if (name === 'read') return read;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
