import type { Streams } from '../plain/terminal.ts';

/** How exactly `emptyAt` is known while it is followed and nothing holds the process up. */
const BEAT_MS = 20;

/** When what is read now may have come at the earliest. */
export interface Reading {
  /**
   * A time: what is read after the call came after that time, however long the process was held up in
   * between. It stands still unless it is followed.
   */
  emptyAt(): number;
  /** Moves `emptyAt` on until it has reached this time. */
  follow(until: number): void;
}

/** Watches when the process last read all that had come, on the clock `now`. `stop` ends it. */
export function watchReading(now: () => number): Reading & { stop(): void } {
  let emptyAt = now();
  let end = emptyAt;
  let beating: NodeJS.Timeout | undefined;
  let confirming: NodeJS.Immediate | undefined;
  const beat = () => {
    const at = now();
    // Node reads between its timers and its immediates, so by then all that came before `at` was read.
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

import process from 'node:process';

interface Suspension {
  resume(): Promise<void>;
}

export interface TerminalEvents {
  /** The terminal is gone: its input has ended, or reading or writing fails. */
  readonly onLost: () => void;
  /** Somebody asks the process to go. */
  readonly onSignal: (signal: NodeJS.Signals) => void;
  /** Gives the terminal away until `resume`. */
  readonly suspend: () => Promise<Suspension> | undefined;
}

/** In which a process that was continued has heard of it. */
const CONTINUED_MS = 50;

const SIGNALS = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;

/**
 * Listens for the end of the terminal and of the process, and hands the terminal over while the process is
 * stopped. After `stop`, signals have their usual effect again. A lost terminal stays quiet for ever: an
 * error on it must not take down a process that is still writing its last entry.
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
    // With its usual effect, on everything that the shell takes for this command; it does nothing where no
    // shell could continue it.
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
  // Stopped without being asked (SIGSTOP): give away and take back, which sets the modes and draws everything
  // anew.
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
