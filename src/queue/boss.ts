import type { Job } from 'pg-boss';
import * as z from 'zod';
import { show } from '../base/text.ts';
import { depthOf, workersOf } from './boss-board.ts';
import { type BossOptions, createBossLink } from './boss-link.ts';
import { createPlanner } from './boss-planner.ts';
import { assertQueue, BEAT, DUE, RUNS, SCHEMA } from './boss-schema.ts';
import type { Handlers, Queue, WorkOptions } from './queue.ts';

/** Seconds. The settings of pg-boss on which the promises of `Queue` depend. */
const PACE = {
  // A worker that stops reporting is found at the next pass of the supervision.
  superviseIntervalSeconds: 5,
  monitorIntervalSeconds: 5,
  // From this count a worker knows that there is more, and does not wait for its next poll.
  queueCacheIntervalSeconds: 5,
  maintenanceIntervalSeconds: 600,
  // After three missed ones, a worker is gone.
  instanceHeartbeatSeconds: 5,
  // pg-boss's dependent jobs, which are not used.
  flowIntervalSeconds: 3_600,
};

/** How a worker asks for jobs: one at a time, each second, and at once while there are more. */
const POLL = {
  batchSize: 1,
  pollingIntervalSeconds: 1,
  burstWhenReadyExceeds: 1,
  heartbeatRefreshSeconds: BEAT,
} as const;

/** Milliseconds between two looks at the schedules: what is due next is sent ahead. */
const PLAN_EVERY = 30_000;

const RunJob = z.object({ run: z.string() });

/**
 * The queue in the team's PostgreSQL, by pg-boss. No connection before the first call. Every call rejects
 * with `queue.none` if `lifeboat store init` has not made it, and `work` with `queue.version` for another
 * version.
 */
export function createBossQueue(options: BossOptions): Queue {
  const link = createBossLink(options);
  const { query, inWords, report } = link;
  const planner = createPlanner(link, options.host);
  const over = Promise.withResolvers<void>();
  /** Runs that are being looked at. */
  const active = new Set<string>();
  let stopWorking = async (_graceMs: number): Promise<void> => {};
  let isStopped = false;

  const send = (runs: readonly string[], times: readonly Date[]) =>
    inWords(() => query(`select ${SCHEMA}.wake($1::text[], $2::timestamptz[])`, [runs, times]));

  /** Merges the wake-ups that have come until now into one look. If this fails, they are several. */
  const gather = (queue: string, key: string) =>
    query(
      `delete from ${SCHEMA}.job
       where name = $1 and singleton_key = $2 and state < 'active' and start_after <= now()`,
      [queue, key],
    ).catch(report);

  const look = async ({ data, signal }: Job, handlers: Handlers) => {
    const { run } = RunJob.parse(data);
    active.add(run);
    try {
      await gather(RUNS, run);
      await handlers.look(run, signal);
    } finally {
      active.delete(run);
    }
  };

  const due = async ({ data, signal }: Job, handlers: Handlers) => {
    const taken = await planner.take(data);
    if (taken === undefined) return;
    const { schedule, at, late, key } = taken;
    await gather(DUE, key);
    await handlers.due(schedule, { at, late }, signal);
  };

  const begin = async (handlers: Handlers, { concurrency, label }: WorkOptions) => {
    const boss = await link.boss({
      ...PACE,
      // Both need the owner of the tables.
      reindex: false,
      monitorVacuum: false,
      instanceName: show(label, 100) || 'worker',
    });
    const plan = () => void planner.plan().catch(report);
    const timer = setInterval(plan, PLAN_EVERY);
    stopWorking = async (graceMs) => {
      clearInterval(timer);
      await boss.stop({ graceful: graceMs > 0, timeout: graceMs });
      // Their jobs would come back after a while, as after a failure; another worker may be free now.
      if (active.size > 0) await send([...active], []);
    };
    const each = (act: typeof look) => async (jobs: readonly Job[]) => {
      for (const job of jobs) await guarded(() => act(job, handlers));
    };
    await boss.start();
    await boss.work(RUNS, { ...POLL, localConcurrency: concurrency }, each(look));
    await boss.work(DUE, POLL, each(due));
    plan();
  };

  /** Other users can read the queue: the error is reported here, and the job keeps none of it. */
  const guarded = async (act: () => Promise<void>) => {
    try {
      await act();
    } catch (error) {
      report(error);
      throw Object.assign(new Error('its worker has reported why'), { stack: '' });
    }
  };

  return {
    async wake(runs) {
      if (runs.length > 0) await send(runs, []);
    },
    async wakeAt(run, at) {
      await send([run], [at]);
    },
    every: (schedules) => inWords(() => planner.every(schedules)),
    async work(handlers, workOptions) {
      await inWords(async () => {
        await assertQueue({ query });
        if (!isStopped) await begin(handlers, workOptions);
      }).catch((thrown: unknown) => {
        // Stopped while it began: its connections are closed, which is no failure.
        if (!isStopped) throw thrown;
      });
      await over.promise;
    },
    async stop(graceMs) {
      isStopped = true;
      await stopWorking(graceMs).catch(report);
      await link.close();
      over.resolve();
    },
    workers: () => inWords(() => workersOf(link)),
    depth: () => inWords(() => depthOf(link)),
  };
}
