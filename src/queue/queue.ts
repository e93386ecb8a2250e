import * as z from 'zod';
import type { LifeboatError } from '../base/errors.ts';
import type { Json } from '../store/journal.ts';

/**
 * The queue is the wake-up and the clock of workers; the truth is in the journal. A wake-up means "look at
 * this run": delivering it zero, one or five times changes only the timing. There are two engines: timers in
 * this process (SQLite), and pg-boss in the team's PostgreSQL.
 */

/** Something that is due repeatedly, such as a drill. */
export const Schedule = z.object({
  /** Unique among the schedules, such as `drill orders`. */
  name: z.string().min(1).max(200),
  /** Five fields: minute, hour, day of the month, month, day of the week. */
  cron: z.string().min(1).max(200),
  /** An IANA time zone, such as `Europe/Berlin`. */
  zone: z.string().min(1).max(60),
  /** Passed to the handler unchanged. Never a secret: the queue stores it. */
  what: z.json(),
});
export type Schedule = Omit<z.infer<typeof Schedule>, 'what'> & { readonly what: Json };

/** A schedule with what the journal knows of it. */
export interface Planned extends Schedule {
  /** When it last ran or was set up. What came due since then runs once, late; if undefined, never. */
  readonly lastRan?: Date | undefined;
}

export interface Due {
  /** The scheduled time, the same however late or often it is delivered. */
  readonly at: Date;
  /** Delivered more than `LATE_MS` after that time. */
  readonly late: boolean;
}

/** Milliseconds. Due schedules are looked for every half minute. */
export const LATE_MS = 120_000;

export interface Handlers {
  /**
   * Looks at a run. Resolves once nothing more can be done now; a waiting run occupies no worker. If it
   * rejects, the error is reported and the run is looked at again within a minute. The signal aborts when the
   * queue gives the run to another worker, or when `stop` has waited long enough.
   */
  look(run: string, signal: AbortSignal): Promise<void>;
  /** May be called again with the same `at`. Otherwise as `look`. */
  due(schedule: Schedule, due: Due, signal: AbortSignal): Promise<void>;
}

export interface WorkOptions {
  /** How many runs are looked at at the same time. At least 1. */
  readonly concurrency: number;
  /** Shown on the board beside the host and the process; at most 100 characters of it. */
  readonly label: string;
}

export interface WorkerRow {
  readonly host: string;
  readonly pid: number;
  readonly label: string;
  readonly since: Date;
  /** When it last reported. */
  readonly seen: Date;
  /** `gone`: it did not report for too long, and did not say that it stops. */
  readonly state: 'live' | 'stopped' | 'gone';
}

export interface QueueDepth {
  /** Wake-ups that may be delivered now. */
  readonly ready: number;
  /** Wake-ups for a later time. */
  readonly later: number;
  readonly active: number;
  readonly oldest: Date | undefined;
}

export interface Queue {
  wake(runs: readonly string[]): Promise<void>;
  /** The run is looked at, not before `at`. Other wake-ups of the run stay. */
  wakeAt(run: string, at: Date): Promise<void>;
  /**
   * Replaces this host's schedules; those of other hosts stay. What is due is delivered only to a worker of a
   * host that declares it. What came due while no such worker ran is delivered once, late. Rejects with
   * `queue.schedule` for an unreadable cron expression or zone; `nextTimes` (cron.ts) previews one.
   */
  every(schedules: readonly Planned[]): Promise<void>;
  /**
   * Delivers wake-ups and what is due until `stop`, then resolves. Never two at once for one run; a wake-up
   * that comes while its run is being looked at is delivered after that.
   */
  work(handlers: Handlers, options: WorkOptions): Promise<void>;
  /** Takes no more, gives handlers `graceMs`, then aborts them. Closes the queue; never rejects. */
  stop(graceMs: number): Promise<void>;
  /** Newest first. A queue inside this process knows only this process. */
  workers(): Promise<readonly WorkerRow[]>;
  depth(): Promise<QueueDepth>;
}

export type QueueReader = Pick<Queue, 'workers' | 'depth' | 'stop'>;

export interface QueueOptions {
  /** Gets errors in the background; the queue goes on. */
  readonly report: (error: LifeboatError) => void;
}
