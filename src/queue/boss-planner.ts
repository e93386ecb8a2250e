import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import * as z from 'zod';
import { dateAt, isoOf } from '../base/date.ts';
import { LifeboatError } from '../base/errors.ts';
import { instantOf } from '../base/instant.ts';
import { show } from '../base/text.ts';
import { canonicalBody } from '../store/canonical.ts';
import type { Json } from '../store/journal.ts';
import type { BossLink } from './boss-link.ts';
import { DUE, SCHEMA } from './boss-schema.ts';
import { assertRecurrence, lastTime, nextTimes } from './cron.ts';
import { type Due, LATE_MS, type Planned, type Schedule } from './queue.ts';

/** A schedule as another process wrote it to the database. */
const Row = z.object({
  key: z.string(),
  cron: z.string(),
  timezone: z.string(),
  data: z.object({ name: z.string(), what: z.json(), host: z.string() }),
  isGone: z.boolean(),
});

/*
 * Each host keeps its own rows, so that no host removes another's; newest first. A host is gone a day after
 * it last declared its schedules or was last seen.
 */
const ROWS = `select s.key, s.cron, s.timezone, s.data,
    greatest(s.updated_on, i.seen) < now() - interval '1 day' as "isGone"
  from ${SCHEMA}.schedule s left join (
    select host, max(heartbeat_on) as seen from ${SCHEMA}.instance group by host
  ) i on i.host = s.data->>'host'
  where s.name = $1 order by s.updated_on desc, s.key`;

/**
 * Milliseconds until a job that was handed on may be taken. No multiple of a worker's poll, or the worker
 * that handed it on would be the next to ask. Longer once it is late: its hosts may have no worker for long.
 */
const [HAND_ON_MS, HAND_ON_LATE_MS] = [1_250, 10_250];

const DueJob = z.object({ key: z.string(), print: z.string(), at: z.iso.datetime() });

interface Kept {
  readonly key: string;
  readonly print: string;
  readonly schedule: Schedule;
}

export interface Planner {
  /**
   * Replaces the set of this host, and sends what came due since each last ran. If another host declares one
   * of the same name differently, this host's counts from now on, and the difference is reported.
   */
  every(schedules: readonly Planned[]): Promise<void>;
  /** Sends the next due jobs ahead, and removes those no longer due. Declares again what is gone. */
  plan(): Promise<void>;
  /**
   * What a job stands for now; undefined if it is no longer due, or its schedule is of other hosts: then it
   * is sent once more, for their workers.
   */
  take(data: unknown): Promise<(Due & Pick<Kept, 'key' | 'schedule'>) | undefined>;
}

/**
 * Schedules in the database. pg-boss keeps them, but its own clock looks backwards: a daily time in the hour
 * that a clock change skips is never due, and one in the hour that repeats is due twice. So every worker
 * sends each next time ahead as a waiting job, whose id follows from the schedule and the time, so that it
 * exists once. A time at which no worker runs is delivered late.
 */
export function createPlanner(
  { boss: make, query, report }: Pick<BossLink, 'boss' | 'query' | 'report'>,
  own: string = hostname(),
): Planner {
  const declared = async () =>
    (await query<{ key: string }>(ROWS, [DUE])).map((row) => {
      const { data } = Row.safeParse(row);
      if (data === undefined) return { row: row.key, isGone: true, host: undefined, one: undefined };
      const { cron, timezone: zone, isGone } = data;
      const { host, ...said } = data.data;
      return { row: row.key, isGone, host, one: keptOf({ ...said, cron, zone }) };
    });

  /** Of each name, the one that was declared last, with the hosts that declare it. */
  const kept = async () => {
    const all = (await declared()).flatMap(({ one, isGone, host }) =>
      one === undefined || isGone ? [] : [{ ...one, host }],
    );
    const last = all.filter((one, at) => all.findIndex(({ key }) => key === one.key) === at);
    return last.map((one) => ({
      ...one,
      hosts: all.filter(({ print }) => print === one.print).map(({ host }) => host),
    }));
  };

  /** By the database's clock, which delivers them. */
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

  /** What this process declared. */
  let mine: readonly Kept[] = [];

  const declare = async (set: readonly Kept[]) => {
    const boss = await make();
    for (const { key, schedule } of set) {
      const { name, cron, zone, what } = schedule;
      await boss.schedule(DUE, cron, { name, what, host: own }, { key: hash(`${key} ${own}`), tz: zone });
    }
  };

  /** Of what this process declared: gone with a schema that was made again, or removed by a worker here. */
  const lost = async () => {
    const there = (await declared()).flatMap(({ host, one }) => (host === own && one ? [one.key] : []));
    return mine.filter(({ key }) => !there.includes(key));
  };

  const plan = async () => {
    if (mine.length > 0) await declare(await lost());
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
      for (const { row, isGone, host, one } of await declared()) {
        const same = set.find(({ key }) => key === one?.key);
        if (isGone || (host === own && same === undefined)) await boss.unschedule(DUE, row);
        else if (host !== own && same !== undefined && same.print !== one?.print)
          report(differs(same.schedule.name, host ?? ''));
      }
      mine = set;
      await declare(set);
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
      const { key, schedule, hosts } = found;
      const [sent, moment] = [instantOf(job.at) ?? Number.NaN, await now()];
      if (!hosts.includes(own)) {
        const afterMs = moment.getTime() - sent < LATE_MS ? HAND_ON_MS : HAND_ON_LATE_MS;
        const startAfter = isoOf(moment.getTime() + afterMs);
        // One job stands for all missed times, or they would add up while it waits for a worker.
        await query(
          `delete from ${SCHEMA}.job
           where name = $1 and singleton_key = $2 and state < 'active' and start_after <= $3`,
          [DUE, key, startAfter],
        );
        await (await make()).insert(DUE, [{ singletonKey: key, startAfter, data: job }]);
        return undefined;
      }
      await plan();
      // Of several missed times, the last.
      const at = lastTime(schedule, dateAt(sent - 1), moment) ?? dateAt(sent);
      return { key, schedule, at, late: moment.getTime() - at.getTime() > LATE_MS };
    },
  };
}

/**
 * Hashed, since a name may have characters that a key may not. The print changes with every change of the
 * schedule, but not with the order of fields, which the database does not keep.
 */
function keptOf({ name, cron, zone, what }: Schedule): Kept {
  const schedule = { name, cron, zone, what };
  return { key: hash(name), print: hash(canonicalBody(schedule as unknown as Json, 'a schedule')), schedule };
}

function differs(name: string, host: string): LifeboatError {
  const words = `the schedule ${show(name, 60)} differs from that of the host ${show(host, 60)}`;
  return new LifeboatError('queue.schedule-differs', words, {
    hints: [
      'that of this host counts from now on, until a worker of the other begins again',
      'give both the same `schedules` in lifeboat.yaml, or another name to one of them',
    ],
  });
}

function idOf({ print, at }: { readonly print: string; readonly at: string }): string {
  return hash(`${print} ${at}`).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
