import { setTimeout as pause } from 'node:timers/promises';

/** Section 3 of service-api.md. Only a backup becomes `deleted`, by retention. */
export type TaskStatus = 'queued' | 'running' | 'done' | 'failed' | 'deleted';

/** How a task shall end: normally, failed after its work began, or never picked up. */
export type Outcome = 'done' | 'failed' | 'queued';

/** One piece of asynchronous work of the Backup Manager. Times are those of the lab's clock. */
export interface Task {
  /** Across all instances, from 1. */
  readonly id: number;
  /** For the log: `backup 3 of orders`. */
  readonly what: string;
  status: TaskStatus;
  readonly triggeredAt: Date;
  startedAt: Date | undefined;
  /** When the status last changed. */
  changedAt: Date;
}

export function isOpen({ status }: Task): boolean {
  return status === 'queued' || status === 'running';
}

export interface Job {
  readonly work: (signal: AbortSignal) => Promise<void>;
  readonly outcome?: Outcome | undefined;
  /** While false, the job stays queued and later ones overtake it; `recheck` asks again. */
  readonly mayStart?: () => boolean;
  /** Called when the task is picked up, in the same turn as `mayStart`. */
  readonly onStart?: () => void;
}

interface Entry extends Job {
  readonly task: Task;
  readonly ended: () => void;
}

/** First in, first out, with a few workers. */
export class TaskQueue {
  readonly #now: () => Date;
  readonly #log: (line: string) => void;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #workers: number;
  #waiting: Entry[] = [];
  #stuck: Entry[] = [];
  #tasks = 0;
  /** Each worker waits this long, in real milliseconds, between picking a task up and its work. */
  delayMs = 0;

  constructor(workers: number, options: { readonly now: () => Date; readonly log: (line: string) => void }) {
    this.#workers = workers;
    this.#now = options.now;
    this.#log = options.log;
  }

  get workers(): number {
    return this.#workers;
  }

  /** Tasks that already run are finished, even beyond the new number. */
  set workers(count: number) {
    this.#workers = count;
    this.recheck();
  }

  /** Resolves when no worker is active. Work that is stuck, or may not start yet, is not waited for. */
  async atRest(): Promise<void> {
    while (this.#running.size > 0) await Promise.race(this.#running);
  }

  newTask(what: string): Task {
    this.#tasks += 1;
    const now = this.#now();
    return {
      id: this.#tasks,
      what,
      status: 'queued',
      triggeredAt: now,
      startedAt: undefined,
      changedAt: now,
    };
  }

  /** Queues the work of a task. Resolves when the task has ended; its status tells how. */
  submit(task: Task, job: Job): Promise<void> {
    return new Promise((ended) => {
      const entry = { ...job, task, ended };
      if (job.outcome === 'queued') this.#stuck.push(entry);
      else this.#waiting.push(entry);
      this.recheck();
    });
  }

  release(): void {
    this.#waiting.push(...this.#stuck.map((entry) => ({ ...entry, outcome: 'done' as const })));
    this.#stuck = [];
    this.recheck();
  }

  /** Starts what may start now on free workers. */
  recheck(): void {
    while (this.#running.size < this.#workers && !this.#closing.signal.aborted) {
      const at = this.#waiting.findIndex(({ mayStart }) => mayStart?.() ?? true);
      const [entry] = at < 0 ? [] : this.#waiting.splice(at, 1);
      if (entry === undefined) return;
      entry.onStart?.();
      const run = this.#run(entry).finally(() => {
        this.#running.delete(run);
        this.recheck();
      });
      this.#running.add(run);
    }
  }

  /** Stops running tasks and drops queued ones. */
  async close(): Promise<void> {
    this.#waiting = [];
    this.#stuck = [];
    this.#closing.abort();
    await Promise.all(this.#running);
  }

  async #run({ task, ended, work, outcome }: Entry): Promise<void> {
    this.#change(task, 'running');
    task.startedAt = task.changedAt;
    try {
      if (outcome === 'failed') throw new Error('a fault of the lab');
      if (this.delayMs > 0)
        await pause(this.delayMs, undefined, { signal: this.#closing.signal, ref: false });
      await work(this.#closing.signal);
      this.#change(task, 'done');
      this.#log(`${task.what} is done`);
    } catch (error) {
      this.#change(task, 'failed');
      if (!this.#closing.signal.aborted) this.#log(`${task.what} failed: ${String(error)}`);
    } finally {
      ended();
    }
  }

  #change(task: Task, status: TaskStatus): void {
    task.status = status;
    task.changedAt = this.#now();
  }
}
