import { EXIT } from '../../base/errors.ts';
import { formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { Action } from '../../cli/define.ts';
import { printResult, printTable } from '../../cli/print-result.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import { loadConfig } from '../../config/load.ts';
import { assertRecurrence, nextTimes } from '../../queue/cron.ts';
import { findPlan } from '../plans/evaluate-plans.ts';
import { lastTimes } from './schedules.ts';

/**
 * `lifeboat schedules`: with each one's last run and next five times. Asks nobody. Rejects with
 * `queue.schedule` for one that cannot be kept, and as `findPlan` for a missing plan.
 */
export const schedules: Action<object> = async (context) => {
  const config = await loadConfig(context.env, context.configPath);
  const journal = await openJournalIfAny(context);
  try {
    for (const schedule of config.schedules)
      if ('plan' in schedule && schedule.plan !== undefined) await findPlan(config, schedule.plan);
    const known = journal === undefined ? new Map<string, never>() : await lastTimes(journal);
    const now = journal === undefined ? new Date() : (await journal.clock())();
    const items = config.schedules.map((schedule) => {
      assertRecurrence(schedule);
      const last = known.get(schedule.name) as { readonly at: string; readonly hasRun: boolean } | undefined;
      return {
        ...{ name: schedule.name, cron: schedule.cron, zone: schedule.zone, does: schedule.do },
        ...('plan' in schedule && schedule.plan !== undefined ? { plan: schedule.plan } : {}),
        ...(last?.hasRun === true ? { lastRan: last.at } : {}),
        next: nextTimes(schedule, now).map((time) => time.toISOString()),
      };
    });
    await printResult(context, 'schedules', { items }, () => {
      if (items.length === 0) {
        context.stdout.write('no schedule is in lifeboat.yaml\n');
        return;
      }
      const columns = ['schedule', 'does', 'when', 'last ran (UTC)', 'next five (UTC)'];
      printTable(
        context,
        columns.map((title, at) => ({
          title,
          ...(at === columns.length - 1 ? { gives: true as const } : {}),
        })),
        items.map(({ name, does, plan, cron, zone, lastRan, next }) => [
          name,
          show(plan === undefined ? does : `${does} ${plan}`),
          show(`${cron} ${zone}`),
          lastRan === undefined ? 'never' : formatTime(lastRan),
          next.map((time) => formatTime(time)).join(', '),
        ]),
      );
    });
    return EXIT.closed;
  } finally {
    await journal?.close();
  }
};
