import { createHash } from 'node:crypto';
import * as z from 'zod';
import { dateAt } from '../base/date.ts';
import { instantOf } from '../base/instant.ts';
import { canonicalBody } from '../store/canonical.ts';
import type { Json } from '../store/journal.ts';
import type { BossLink } from './boss-link.ts';
import { DUE, SCHEMA } from './boss-schema.ts';
import { assertRecurrence, lastTime, nextTimes } from './cron.ts';
import { type Due, LATE_MS, type Planned, type Schedule } from './queue.ts';

/** A schedule as the database keeps it: what another process wrote. */
const Row = z.object({
  key: z.string(),
  cron: z.string(),
  timezone: z.string(),
  data: z.object({ name: z.string(), what: z.json() }),
});

/** A job of a schedule: when it is due, and the print of the schedule that it was made for. */
const DueJob = z.object({ key: z.string(), print: z.string(), at: z.iso.datetime() });

interface Kept {
  readonly key: string;
  readonly print: string;
  readonly schedule: Schedule;
}

export interface Planner {
  /** Replaces the set, and sends what came due since each ran last. */
  every(schedules: readonly Planned[]): Promise<void>;
  /** Sends ahead what is due next, and removes what is due no more. */
  plan(): Promise<void>;
  /** What a job stands for now; undefined if it is due no more. */
  take(data: unknown): Promise<(Due & Pick<Kept, 'key' | 'schedule'>) | undefined>;
}

/**
 * Schedules in the database. pg-boss keeps them, and has a clock of its own for them, which looks backwards:
 * a daily time in the hour that a change of the clocks leaves out is then never due, and one in the hour that
 * comes twice is due twice. So each next time is sent ahead as a job of its own, which waits. All workers do
 * so, and the id of the job, which follows from the schedule and the time, makes it one. A time at which
 * nobody works is delivered late.
 */
export function createPlanner({ boss: make, query }: Pick<BossLink, 'boss' | 'query'>): Planner {
  const kept = async (): Promise<readonly Kept[]> => {
    const rows = await (await make()).getSchedules(DUE);
    return rows.flatMap((row) => {
      const { data } = Row.safeParse(row);
      return data === undefined ? [] : [keptOf({ ...data.data, cron: data.cron, zone: data.timezone })];
    });
  };

  /** By the clock that delivers them. */
  const now = async (): Promise<Date> => {
    const [row] = await query<{ now: Date }>('select clock_timestamp() as now');
    return row?.now ?? dateAt(Date.now());
  };

  const send = async (times: readonly (Kept & { readonly at: Date })[]) => {
    const jobs = times.map(({ key, print, at }) => {
      const data = { key, print, at: at.toISOString() };
      return { id: idOf(data), singletonKey: key, startAfter: data.at, data };
    });
    if (jobs.length > 0) await (await make()).insert(DUE, jobs);
  };

  const plan = async () => {
    const [set, moment] = [await kept(), await now()];
    await query(
      `delete from ${SCHEMA}.job where name = $1 and state < 'active' and (data->>'print' = any($2)) is not true`,
      [DUE, set.map(({ print }) => print)],
    );
    await send(set.flatMap((one) => nextTimes(one.schedule, moment, 1).map((at) => ({ ...one, at }))));
  };

  return {
    plan,
    async every(schedules) {
      for (const schedule of schedules) assertRecurrence(schedule);
      const set = schedules.map((planned) => ({ ...keptOf(planned), lastRan: planned.lastRan }));
      const boss = await make();
      for (const { key } of await boss.getSchedules(DUE))
        if (!set.some((one) => one.key === key)) await boss.unschedule(DUE, key);
      for (const { key, schedule } of set) {
        const { name, cron, zone, what } = schedule;
        await boss.schedule(DUE, cron, { name, what }, { key, tz: zone });
      }
      const moment = await now();
      await send(
        set.flatMap(({ lastRan, ...one }) => {
          const at = lastRan && lastTime(one.schedule, lastRan, moment);
          return at === undefined ? [] : [{ ...one, at }];
        }),
      );
      await plan();
    },
    async take(data) {
      const job = DueJob.safeParse(data).data;
      const found = (await kept()).find(({ key, print }) => key === job?.key && print === job.print);
      if (job === undefined || found === undefined) return undefined;
      const { key, schedule } = found;
      const [sent, moment] = [instantOf(job.at) ?? Number.NaN, await now()];
      await plan();
      // Of several that nobody took, the last.
      const at = lastTime(schedule, dateAt(sent - 1), moment) ?? dateAt(sent);
      return { key, schedule, at, late: moment.getTime() - at.getTime() > LATE_MS };
    },
  };
}

/**
 * The name may have characters that a key may not; the print is another for every change. It does not depend
 * on the order of fields, which the database does not keep.
 */
function keptOf({ name, cron, zone, what }: Schedule): Kept {
  const schedule = { name, cron, zone, what };
  return { key: hash(name), print: hash(canonicalBody(schedule as unknown as Json, 'a schedule')), schedule };
}

function idOf({ print, at }: { readonly print: string; readonly at: string }): string {
  return hash(`${print} ${at}`).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
