import * as z from 'zod';
import type { LifeboatError } from '../base/errors.ts';
import type { Json } from '../store/journal.ts';

/**
 * The port of the queue: the wake-up and the clock of workers, never the truth, which is in the journal. A
 * wake-up means "look at this run"; delivering it zero, one or five times changes nothing but time. There
 * are two engines: timers in this process (SQLite), and pg-boss in the team's PostgreSQL.
 */

/** Something that is due again and again, such as a drill. */
export const Schedule = z.object({
  /** Unique among the schedules, such as `drill orders`. */
  name: z.string().min(1).max(200),
  /** Five fields: minute, hour, day of the month, month, day of the week. */
  cron: z.string().min(1).max(200),
  /** An IANA time zone, such as `Europe/Berlin`. */
  zone: z.string().min(1).max(60),
  /** Handed to the handler as it is. Never a secret: the queue stores it. */
  what: z.json(),
});
export type Schedule = Omit<z.infer<typeof Schedule>, 'what'> & { readonly what: Json };

/** A schedule with what the journal knows of it. */
export interface Planned extends Schedule {
  /** When it last ran, or was set up. What came due since then runs once, late; without it, nothing does. */
  readonly lastRan?: Date | undefined;
}

/** When a schedule is due. */
export interface Due {
  /** The time on the clock that it is due at, the same however late or often it is delivered. */
  readonly at: Date;
  /** Nothing ran at that time: it is delivered more than `LATE_MS` after it. */
  readonly late: boolean;
}

/** Milliseconds after which something due counts as late: what is due is looked for every half minute. */
export const LATE_MS = 120_000;

export interface Handlers {
  /**
   * Looks at a run. Resolves once nothing more can be done now; a run that waits holds no worker. If it
   * rejects, the run is looked at again within a minute, and the error is reported. The signal aborts when
   * the queue gives the run to another worker, or `stop` has waited long enough.
   */
  look(run: string, signal: AbortSignal): Promise<void>;
  /** Something is due. May be called again with the same `at`. Otherwise as `look`. */
  due(schedule: Schedule, due: Due, signal: AbortSignal): Promise<void>;
}

export interface WorkOptions {
  /** How many runs are looked at at once. At least 1. */
  readonly concurrency: number;
  /** Shown on the board beside the host and the process; at most 100 characters of it. */
  readonly label: string;
}

/** A process that works, or did. */
export interface WorkerRow {
  readonly host: string;
  readonly pid: number;
  readonly label: string;
  readonly since: Date;
  /** When it was last heard of. */
  readonly seen: Date;
  /** `gone`: it was not heard of for too long, and did not say that it stops. */
  readonly state: 'live' | 'stopped' | 'gone';
}

export interface QueueDepth {
  /** Wake-ups that may be delivered now. */
  readonly ready: number;
  /** Wake-ups for a later time. */
  readonly later: number;
  /** Runs being looked at. */
  readonly active: number;
  /** Since when the oldest wake-up that may be delivered has been waiting. */
  readonly oldest: Date | undefined;
}

export interface Queue {
  /** Each of these runs is looked at, as soon as a worker is free. */
  wake(runs: readonly string[]): Promise<void>;
  /** The run is looked at, not before `at`. Other wake-ups of the run stay. */
  wakeAt(run: string, at: Date): Promise<void>;
  /**
   * Replaces the set of schedules of this host; those of others stay. What came due while nothing ran is
   * delivered once, late. Rejects with `queue.schedule` for a cron expression or a zone that cannot be read;
   * `nextTimes` (cron.ts) previews one.
   */
  every(schedules: readonly Planned[]): Promise<void>;
  /**
   * Delivers wake-ups and what is due until `stop`; resolves once it does. Never two at once for one run; a
   * wake-up that comes while its run is being looked at is delivered after that.
   */
  work(handlers: Handlers, options: WorkOptions): Promise<void>;
  /**
   * Takes no more, waits for the running handlers for up to this many milliseconds, then aborts their
   * signals. Closes the queue; never rejects.
   */
  stop(graceMs: number): Promise<void>;
  /** For the board, newest first. A queue inside this process knows only this one. */
  workers(): Promise<readonly WorkerRow[]>;
  depth(): Promise<QueueDepth>;
}

/** For the board. */
export type QueueReader = Pick<Queue, 'workers' | 'depth' | 'stop'>;

export interface QueueOptions {
  /** Gets what went wrong in the background; the queue goes on. */
  readonly report: (error: LifeboatError) => void;
}
