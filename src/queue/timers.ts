import { hostname } from 'node:os';
import { dateAt } from '../base/date.ts';
import type { Journal } from '../store/journal.ts';
import { assertRecurrence, lastTime, nextTimes } from './cron.ts';
import { type Handlers, LATE_MS, type Planned, type Queue, type QueueOptions } from './queue.ts';
import { createReport, RETRY } from './trouble.ts';

/** The passing of time, in milliseconds. */
export interface Clock {
  now(): number;
  /** Returns a function that cancels it. */
  later(ms: number, act: () => void): () => void;
}

export interface TimersOptions extends QueueOptions {
  readonly journal: Pick<Journal, 'onWake'>;
  readonly clock?: Clock;
}

const SYSTEM: Clock = {
  now: Date.now,
  later(ms, act) {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
};

/** The longest wait before the clock is read again: it may be set, and the machine may sleep. */
const LOOK_AGAIN = 30_000;

interface Working {
  readonly handlers: Handlers;
  readonly concurrency: number;
  readonly label: string;
  readonly since: number;
}

interface Planner {
  readonly schedule: Planned;
  /** Everything until this time was delivered. */
  from: number;
  /** When it is due next, or tried again. */
  next: number;
}

interface Running {
  readonly kind: 'look' | 'due';
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

/**
 * The queue of a single-machine store: timers in this process, which keep nothing. Wake-ups come from the
 * journal, and after a start from the caller's look through it.
 */
export function createTimers({ journal, clock = SYSTEM, ...options }: TimersOptions): Queue {
  const report = createReport(options);
  const times = new Map<string, readonly number[]>();
  /** By run, or by schedule. */
  const running = new Map<string, Running>();
  const failures = new Map<string, number>();
  const over = Promise.withResolvers<void>();
  let planners: readonly Planner[] = [];
  let working: Working | undefined;
  let isStopped = false;
  let callOff = () => {};

  const add = (run: string, at: number) => times.set(run, [...(times.get(run) ?? []), at]);

  const start = (
    { key, kind }: { readonly key: string; readonly kind: Running['kind'] },
    act: (signal: AbortSignal) => Promise<void>,
    again: (at: number) => void,
  ) => {
    const abort = new AbortController();
    const run = async () => {
      try {
        await act(abort.signal);
        failures.delete(key);
      } catch (error) {
        report(error);
        const failed = failures.get(key) ?? 0;
        failures.set(key, failed + 1);
        again(clock.now() + 1_000 * Math.min(RETRY.first * 2 ** failed, RETRY.most));
      }
      running.delete(key);
      look();
    };
    running.set(key, { kind, abort, done: Promise.resolve().then(run) });
  };

  const count = (kind: Running['kind']) => [...running.values()].filter((one) => one.kind === kind).length;

  const lookAtRuns = ({ handlers, concurrency }: Working, now: number) => {
    let free = concurrency - count('look');
    for (const [run, all] of times) {
      if (free <= 0) return;
      const key = `run ${run}`;
      const later = all.filter((time) => time > now);
      if (later.length === all.length || running.has(key)) continue;
      // All wake-ups until now make one look.
      times.delete(run);
      if (later.length > 0) times.set(run, later);
      free -= 1;
      start(
        { key, kind: 'look' },
        (signal) => handlers.look(run, signal),
        (at) => add(run, at),
      );
    }
  };

  /** One at a time: what is due begins a run, which is then looked at like any other. */
  const lookAtSchedules = ({ handlers }: Working, now: number) => {
    for (const planner of planners) {
      const { schedule, from } = planner;
      if (planner.next > now) continue;
      if (count('due') > 0) return;
      planner.next = nextAfter(schedule, now);
      const at = lastTime(schedule, dateAt(from), dateAt(now));
      if (at === undefined) continue;
      planner.from = at.getTime();
      start(
        { key: `schedule ${schedule.name}`, kind: 'due' },
        (signal) => handlers.due(schedule, { at, late: now - at.getTime() > LATE_MS }, signal),
        (time) => Object.assign(planner, { from, next: time }),
      );
    }
  };

  /** Starts what may start, and schedules the next look. */
  const look = () => {
    callOff();
    if (working === undefined || isStopped) return;
    const now = clock.now();
    lookAtRuns(working, now);
    lookAtSchedules(working, now);
    const ahead = [...[...times.values()].flat(), ...planners.map(({ next }) => next)];
    // Anything due that did not start waits for a handler to end, which calls this again.
    const next = Math.min(now + LOOK_AGAIN, ...ahead.filter((time) => time > now));
    callOff = clock.later(next - now, look);
  };

  const endHearing = journal.onWake((wakes) => {
    for (const { run, at } of wakes) add(run, at?.getTime() ?? clock.now());
    look();
  });

  return {
    async wake(runs) {
      for (const run of runs) add(run, clock.now());
      look();
    },
    async wakeAt(run, at) {
      add(run, at.getTime());
      look();
    },
    async every(schedules) {
      for (const schedule of schedules) assertRecurrence(schedule);
      planners = schedules.map((schedule) => plannerOf(schedule, planners, clock.now()));
      look();
    },
    async work(handlers, { concurrency, label }) {
      if (isStopped) return;
      working = { handlers, concurrency, label, since: clock.now() };
      look();
      await over.promise;
    },
    async stop(graceMs) {
      isStopped = true;
      endHearing();
      callOff();
      const patience = Promise.withResolvers<void>();
      const endPatience = clock.later(graceMs, patience.resolve);
      await Promise.race([Promise.all([...running.values()].map(({ done }) => done)), patience.promise]);
      endPatience();
      for (const { abort } of running.values()) abort.abort();
      over.resolve();
    },
    async workers() {
      if (working === undefined || isStopped) return [];
      const [since, seen] = [dateAt(working.since), dateAt(clock.now())];
      const { label } = working;
      return [{ host: hostname(), pid: process.pid, label, since, seen, state: 'live' as const }];
    },
    async depth() {
      const now = clock.now();
      const all = [...times.values()].flat();
      const ready = all.filter((time) => time <= now);
      return {
        ready: ready.length,
        later: all.length - ready.length,
        active: count('look'),
        oldest: ready.length === 0 ? undefined : dateAt(Math.min(...ready)),
      };
    },
  };
}

/** An unchanged schedule keeps its progress. */
function plannerOf(schedule: Planned, known: readonly Planner[], now: number): Planner {
  const { name, cron, zone, lastRan } = schedule;
  const same = known.find(({ schedule: old }) => old.name === name && old.cron === cron && old.zone === zone);
  const from = Math.max(same?.from ?? 0, lastRan?.getTime() ?? 0) || now;
  return { schedule, from, next: nextAfter(schedule, from) };
}

function nextAfter(schedule: Planned, after: number): number {
  const [next] = nextTimes(schedule, dateAt(after), 1);
  return next?.getTime() ?? Number.POSITIVE_INFINITY;
}
