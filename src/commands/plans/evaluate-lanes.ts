import { NO_INSTANCE, type PlanInput } from '../../../machines/parts/plan.ts';
import type { LaneFacts } from '../../../machines/parts/plan-events.ts';
import { activitiesFor } from '../../activities/index.ts';
import { errorFrom, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { timeLimit } from '../../base/time-limit.ts';
import { depsFor } from '../../compose/activity-deps.ts';
import type { RunInstances } from '../../compose/instances.ts';
import { backupsLastSeen } from '../../compose/last-seen.ts';
import { openForRun } from '../../compose/service-of.ts';
import { missingFor } from '../../plans/missing.ts';
import { targetOf } from '../../plans/resolve.ts';
import { readLedger } from '../../store/projections/ledgers.ts';
import type { PlanSetting } from './plan-setting.ts';

const AT_ONCE = 20;

/**
 * Looks at the instance that each lane changes, only by GETs; without an answer the lane has a problem, and
 * also if the record or the key store lacks what its recovery needs. `isHere`: this host takes the steps, so
 * its key store has to hold every key.
 */
export async function evaluateLanes(
  { context, config, workspace }: PlanSetting,
  { groups }: PlanInput,
  { platform, isHere }: { readonly platform: RunInstances['platform']; readonly isHere: boolean },
): Promise<readonly LaneFacts[]> {
  const held = await workspace.keyring.listAll();
  const recordOf = async (name: string) => {
    const { card, epochs } = await readLedger(workspace.journal, name);
    const seen = backupsLastSeen(workspace.home, name, config.instances[name]?.url ?? '');
    const isListed = seen?.backups.some(({ backupId = '' }) => backupId !== '') === true;
    return { card, isListed, hasKey: epochs.length > 0 };
  };
  const all = groups.flatMap((group) => {
    if (group.for === undefined) return [];
    return group.lanes.map((lane) => ({ group, lane, into: targetOf(group, lane) }));
  });
  const { default: limit } = await import('p-limit');
  const one = limit(AT_ONCE);
  return Promise.all(
    all.map(({ group, lane, into }) =>
      one(async (): Promise<LaneFacts> => {
        const base = { group: group.id, lane: lane.name };
        if (lane.name === NO_INSTANCE || into === undefined) return base;
        try {
          await using instance = await openForRun(context, config, workspace, into);
          const source = config.instances[lane.name];
          const deps = depsFor(instance, { ...workspace, platform });
          const { inspectTarget } = activitiesFor({ instance: deps });
          const signal = timeLimit(30_000);
          const looking = {
            runId: '',
            instance: into,
            signal,
            now: () => new Date(),
            report: () => undefined,
          };
          const apps = source?.apps?.map(({ name }) => name);
          const looked = await inspectTarget.run({ apps }, looking);
          if (!looked.ok) throw errorFrom(looked.failure);
          const [blocker] = looked.output.blockers;
          const problem =
            blocker === undefined
              ? await missingFor(groups, group, { lane, held, isHere, recordOf })
              : `${into}: ${blocker.shortMessage}`;
          return {
            ...base,
            seen: JSON.stringify(looked.output.identity),
            ...(problem === undefined ? {} : { problem }),
          };
        } catch (thrown) {
          const why = thrown instanceof LifeboatError ? thrown.shortMessage : 'it cannot be asked';
          return { ...base, problem: `${into}: ${show(why, 200)}` };
        }
      }),
    ),
  );
}
