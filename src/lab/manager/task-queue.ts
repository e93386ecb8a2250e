/** Section 2.1 of service-api.md. `deleted` belongs to retention. */
type TaskStatus = 'queued' | 'running' | 'done' | 'failed';

/** How a task is made to end: as it will, failed after its work began, or never picked up. */
export type Fate = 'done' | 'failed' | 'queued';

/** One piece of asynchronous work of the Backup Manager. */
export interface Task {
  /** For the log: `backup 3 of orders`. */
  readonly what: string;
  status: TaskStatus;
  readonly triggeredAt: Date;
  startedAt: Date | undefined;
  /** When the status last changed. */
  changedAt: Date;
}

export function newTask(what: string): Task {
  const now = new Date();
  return {
    what,
    status: 'queued',
    triggeredAt: now,
    startedAt: undefined,
    changedAt: now,
  };
}

interface Job {
  readonly task: Task;
  readonly ended: () => void;
  readonly work: (signal: AbortSignal) => Promise<void>;
  readonly fate: Fate;
}

/** First in, first out, for a few workers. */
export class TaskQueue {
  readonly #workers: number;
  readonly #log: (line: string) => void;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #waiting: Job[] = [];
  #stuck: Job[] = [];

  constructor(workers: number, log: (line: string) => void) {
    this.#workers = workers;
    this.#log = log;
  }

  /** Queues the work of a task. Resolves when the task has ended; its status tells how. */
  submit(task: Task, work: Job['work'], fate: Fate = 'done'): Promise<void> {
    return new Promise((ended) => {
      const job = { task, ended, work, fate };
      if (fate === 'queued') this.#stuck.push(job);
      else this.#waiting.push(job);
      this.#next();
    });
  }

  /** Lets the tasks go on that a fault holds in the queue. */
  release(): void {
    this.#waiting.push(...this.#stuck.map((job) => ({ ...job, fate: 'done' as const })));
    this.#stuck = [];
    this.#next();
  }

  /** Stops what runs and drops what waits. */
  async close(): Promise<void> {
    this.#waiting = [];
    this.#stuck = [];
    this.#closing.abort();
    await Promise.all(this.#running);
  }

  #next(): void {
    while (this.#running.size < this.#workers && !this.#closing.signal.aborted) {
      const job = this.#waiting.shift();
      if (job === undefined) return;
      const run = this.#run(job).finally(() => {
        this.#running.delete(run);
        this.#next();
      });
      this.#running.add(run);
    }
  }

  async #run({ task, ended, work, fate }: Job): Promise<void> {
    change(task, 'running');
    task.startedAt = task.changedAt;
    try {
      if (fate === 'failed') throw new Error('a fault of the lab');
      await work(this.#closing.signal);
      change(task, 'done');
      this.#log(`${task.what} is done`);
    } catch (error) {
      change(task, 'failed');
      if (!this.#closing.signal.aborted) this.#log(`${task.what} failed: ${String(error)}`);
    } finally {
      ended();
    }
  }
}

function change(task: Task, status: TaskStatus): void {
  task.status = status;
  task.changedAt = new Date();
}
