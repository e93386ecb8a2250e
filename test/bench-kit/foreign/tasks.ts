import { setTimeout as pause } from 'node:timers/promises';
import type { TaskWish } from './call.ts';
import type { Taste } from './options.ts';

/** A backup or a restore on its way, by the service's clock. */
export interface Task {
  readonly triggered: Date;
  started?: Date;
  /** When the status changed last (section 2.1: that is what `finished_at` means). */
  changed: Date;
  /** Section 3: `queued`, `running`, then `done` or `failed`; a backup may end as `deleted`. */
  status: string;
  /** Whether it is `done`, `failed` or `deleted`. */
  isOver: boolean;
}

export interface TaskYard {
  /** The time by the service's clock. */
  now(): Date;
  /**
   * Leads a task from `queued` to its end and calls `work` in the middle; a rejection of `work` is a failed
   * task. Resolves when it is over and never rejects.
   */
  lead(task: Task, wish: TaskWish, work: () => Promise<void>): Promise<void>;
  /** Does something later, unless the yard is closed by then. */
  later(ms: number, work: () => Promise<void>): void;
  /** Lets every wait end now, and waits for what cannot be cut short. */
  close(): Promise<void>;
}

export interface TaskYardOptions {
  /** Milliseconds that a task takes when nothing else is wished. */
  readonly taskMs: number;
  /** How far the service's clock is ahead of this machine's. Milliseconds. */
  readonly aheadMs: number;
  /** `odd` adds a status that no document knows, between `running` and the end. */
  readonly taste: Taste;
}

/** A quarter of its time a task is queued, then it runs; its work is done before the last quarter begins. */
export function openTaskYard({ taskMs, aheadMs, taste }: TaskYardOptions): TaskYard {
  const underWay = new Set<Promise<void>>();
  const closing = new AbortController();
  const { signal } = closing;
  const closed = new Promise((resolve) => signal.addEventListener('abort', resolve));
  const now = () => new Date(Date.now() + aheadMs);
  const hold = (doing: Promise<void>) => {
    underWay.add(doing);
    void doing.finally(() => underWay.delete(doing));
    return doing;
  };
  const enter = (task: Task, status: string, isOver = false) =>
    Object.assign(task, { status, isOver, changed: now() });

  async function steps(task: Task, wish: TaskWish, work: () => Promise<void>): Promise<void> {
    const quarter = (wish.ms ?? taskMs) / 4;
    try {
      if (quarter > 0) await pause(quarter, undefined, { signal });
      task.started = enter(task, 'running').changed;
      const waiting = quarter > 0 ? pause(quarter * 2, undefined, { signal }) : undefined;
      await Promise.all([waiting, wish.fails === true ? Promise.reject(new Error('as wished')) : work()]);
      if (wish.until !== undefined) await Promise.race([wish.until.catch(() => undefined), closed]);
      if (taste === 'odd') enter(task, 'archiving');
      if (quarter > 0) await pause(quarter, undefined, { signal });
      enter(task, 'done', true);
    } catch {
      enter(task, 'failed', true);
    }
  }

  return {
    now,
    lead: (task, wish, work) => hold(steps(task, wish, work)),
    later: (ms, work) => {
      void hold(
        pause(ms, undefined, { signal })
          .then(work)
          .catch(() => undefined),
      );
    },
    close: async () => {
      closing.abort();
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
