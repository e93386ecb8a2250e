import type { TargetIdentity } from '../../machines/parts/recovery-data.ts';
import type { Backup, InstanceOverview, Restore } from '../service/schemas.ts';
import type { ActivityOf } from './activity.ts';
import { doneBackups, isUnderWay } from './baseline.ts';
import { boundAt } from './bound-at.ts';
import { secondsAhead } from './clocks.ts';
import type { ActivityDeps } from './deps.ts';
import { because, ok } from './results.ts';
import { targetBlockers } from './target-blockers.ts';
import { targetDisk } from './target-disk.ts';

const SKEW_WORTH_A_WORD_S = 60;
/** Enough to tell the tasks under way; more of them is no more of a reason. */
const MOST = 50;

/**
 * Looks at the instance that a recovery goes into: who it is, whether it is empty, fits the source and has
 * room. Only GETs. Metrics and the platform are asked as far as they answer; what they do not tell is a
 * warning. `sourceDeps` is the source of the config.
 */
export function inspectTarget(
  deps: ActivityDeps,
  sourceDeps?: Pick<ActivityDeps, 'place'>,
): ActivityOf<'inspectTarget'> {
  return {
    kind: 'read',
    async run({ source, needBytes, apps }, { instance, signal }) {
      try {
        const overview = await deps.service.overview(signal);
        const backups = await deps.service.backups(signal);
        const restores = await deps.service.restores(signal);
        const room = await targetDisk(deps.service, needBytes, signal);
        const bound = await boundAt(deps, apps ?? [], signal);
        const identity = identityOf(overview.value, backups.value, restores.value, bound.names);
        const skew = secondsAhead(backups.skew);
        const seen = {
          name: instance,
          source,
          isAtSource: source !== undefined && sourceDeps?.place === deps.place,
          identity,
          backups: backups.value,
          restores: restores.value,
          unseenApps: bound.unseen,
          room,
        };
        const { blockers, warnings } = targetBlockers(seen);
        return ok({
          identity,
          ...(room.disk === undefined ? {} : { disk: room.disk }),
          ...(skew === undefined ? {} : { clockSkewSeconds: skew }),
          warnings: [...warnings, ...bound.warnings, ...room.warnings, ...skewWarnings(skew)],
          blockers,
        });
      } catch (thrown) {
        return because(thrown);
      }
    },
  };
}

/** Leaves out what is not reported, so that a comparison sees it as not reported. */
function identityOf(
  overview: InstanceOverview,
  backups: readonly Backup[],
  restores: readonly Restore[],
  boundApps: readonly string[],
): TargetIdentity {
  const done = doneBackups(backups);
  const newestRestore = Math.max(...restores.map(({ id }) => id));
  const reported = {
    instanceId: overview.id === undefined ? undefined : String(overview.id),
    name: overview.name,
    tenant: overview.tenant_name,
    subtenant: overview.subtenant_name,
    serviceId: overview.service_id,
    planId: overview.plan_id,
    createdAt: overview.created_at,
    updatedAt: overview.updated_at,
    state: overview.state,
    newestBackup: done[0]?.id,
    newestRestore: Number.isFinite(newestRestore) ? newestRestore : undefined,
  };
  return {
    ...Object.fromEntries(Object.entries(reported).filter(([, value]) => value !== undefined)),
    backups: done.length,
    restores: restores.length,
    runningTasks: [...backups, ...restores]
      .filter(isUnderWay)
      .slice(0, MOST)
      .map(({ id }) => id),
    boundApps: [...boundApps],
  };
}

function skewWarnings(skew: number | undefined): string[] {
  if (skew === undefined || Math.abs(skew) <= SKEW_WORTH_A_WORD_S) return [];
  return [`the clock of the service differs by ${skew} s from the one here`];
}
