import { onTestFinished } from 'vitest';
import type { LifeboatError } from '../../src/base/errors.ts';
import type { Due, Handlers, Planned, Queue, Schedule } from '../../src/queue/queue.ts';

export interface QueueUnderTest {
  /** The queues of as many processes as the engine can have at one store, closed after the test. */
  readonly queues: readonly [Queue, ...Queue[]];
  /** What they reported. */
  readonly reports: readonly LifeboatError[];
  /** Lets the time come for which the next of each schedule is planned. */
  passTime(): Promise<void>;
}

export type FreshQueue = () => QueueUnderTest | Promise<QueueUnderTest>;

/** Closes it after the test, whether or not the test stopped it. */
export function closing<Opened extends Pick<Queue, 'stop'>>(queue: Opened): Opened {
  onTestFinished(() => queue.stop(0));
  return queue;
}

/** Handlers that record what they are called with, and wait while a gate is closed. */
export function recorder() {
  const looked: string[] = [];
  const dues: (Due & Pick<Schedule, 'name' | 'what'>)[] = [];
  const now = new Map<string, number>();
  let most = 0;
  let mostOfOne = 0;
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  const handlers: Handlers = {
    async look(run, signal) {
      looked.push(run);
      signals.push(signal);
      now.set(run, (now.get(run) ?? 0) + 1);
      mostOfOne = Math.max(mostOfOne, now.get(run) ?? 0);
      most = Math.max(
        most,
        [...now.values()].reduce((sum, one) => sum + one, 0),
      );
      await gate.promise;
      now.set(run, (now.get(run) ?? 0) - 1);
      // Once it has ended, its signal means nothing.
      (signal.aborted ? aborted : ended).push(run);
    },
    async due({ name, what }, due) {
      dues.push({ name, what, ...due });
    },
  };
  const ended: string[] = [];
  const aborted: string[] = [];
  const signals: AbortSignal[] = [];
  return {
    handlers,
    looked,
    ended,
    aborted,
    signals,
    dues,
    most: () => most,
    /** The most handlers of the same run at once. */
    mostOfOne: () => mostOfOne,
    close() {
      gate = Promise.withResolvers<void>();
    },
    open: () => gate.resolve(),
  };
}

export type Recorder = ReturnType<typeof recorder>;

/** All queues work, with the same handlers. */
export function working({ queues }: QueueUnderTest, { handlers }: Recorder, concurrency = 4): void {
  for (const [nr, queue] of queues.entries()) void queue.work(handlers, { concurrency, label: `test ${nr}` });
}

export function daily(more: Partial<Planned> = {}): Planned {
  return {
    name: 'drill orders',
    cron: '30 2 * * *',
    zone: 'Europe/Berlin',
    // Not in the order in which a database keeps them.
    what: { plan: 'orders', at: 1 },
    ...more,
  };
}
