import type { Failure } from '../../machines/parts/failure.ts';
import type { Ground, PreflightFacts } from '../../machines/parts/verbs.ts';
import type { Skew } from '../service/clock-skew.ts';
import type { Backup, BackupsConfig, InstanceOverview } from '../service/schemas.ts';
import { show } from '../text.ts';
import type { ReadActivity } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { factsOfBackup, groundOf, newestOf, readInstance } from './ground.ts';
import { because, ok } from './results.ts';

/** States in which a key change makes no sense; an unknown word only warns (service-api.md section 3). */
const BLOCKING_STATES = new Set(['deleted', 'deploying', 'failed']);
const USUAL_STATES = new Set(['available', 'provisioned']);
const SKEW_WORTH_A_WORD_S = 60;

/**
 * Looks at everything a rotation rests on: instance, configuration, backups, the key store. Only GETs. The right to change shows
 * only at the change itself: a 403 there changes nothing.
 */
export function preflight(deps: ActivityDeps): ReadActivity<{ instance: string }, PreflightFacts> {
  return {
    kind: 'read',
    async run({ instance }, { signal }) {
      try {
        await deps.keyring.store.probe();
        const { overview, config, backups, skew: measured } = await readInstance(deps.service, signal);
        const ground = groundOf(overview, config, backups);
        const skew = secondsAhead(measured);
        const current = await deps.currentKey();
        const expires = await deps.tokenExpires();
        return ok({
          ...serviceFacts(overview, config, backups),
          ground,
          keysHeld: [...(await deps.keyring.list(instance))],
          ...(current === undefined ? {} : { currentKey: current }),
          keyStore: deps.keyring.store.description,
          ...(expires === undefined ? {} : { tokenExpires: expires }),
          ...(skew === undefined ? {} : { clockSkewSeconds: skew }),
          warnings: warningsOf(overview, config, backups, skew),
          blockers: blockersOf(overview, ground),
        });
      } catch (thrown) {
        return because(thrown);
      }
    },
  };
}

function serviceFacts(overview: InstanceOverview, config: BackupsConfig, backups: readonly Backup[]) {
  const newest = newestOf(backups);
  return {
    service: {
      ...(overview.id === undefined ? {} : { id: String(overview.id) }),
      ...(overview.name === undefined ? {} : { name: overview.name }),
      ...(overview.state === undefined ? {} : { state: overview.state }),
      ...(overview.plan_id === undefined ? {} : { plan: overview.plan_id }),
      ...(overview.tenant_name === undefined ? {} : { tenant: overview.tenant_name }),
    },
    ...(config.retention_time === undefined ? {} : { retentionDays: config.retention_time }),
    ...(config.min_backup_count === undefined ? {} : { minBackupCount: config.min_backup_count }),
    ...(config.exclude_from_auto_backup === undefined
      ? {}
      : { excludedFromAutoBackup: config.exclude_from_auto_backup }),
    ...(config.backup_type === undefined ? {} : { backupType: config.backup_type }),
    backups: {
      total: backups.length,
      done: backups.filter((backup) => backup.status === 'done').length,
      downloadable: backups.filter((backup) => backup.downloadable === true).length,
    },
    ...(newest === undefined ? {} : { newest: factsOfBackup(newest) }),
  };
}

function blockersOf(overview: InstanceOverview, { runningTasks }: Ground): Failure[] {
  const blockers: Failure[] = [];
  if (overview.state !== undefined && BLOCKING_STATES.has(overview.state)) {
    blockers.push({
      code: 'instance.state',
      shortMessage: `the instance is ${show(overview.state)}`,
      hints: ['wait until it is available, then try again'],
      evidence: { state: show(overview.state) },
    });
  }
  if (runningTasks.length > 0) {
    blockers.push({
      code: 'service.task-running',
      shortMessage: `a backup is under way: ${runningTasks.slice(0, 5).join(', ')}`,
      hints: ['wait until it is done, then try again: it is not known under which key it will be written'],
      evidence: { backups: runningTasks.slice(0, 50) },
    });
  }
  return blockers;
}

function warningsOf(
  overview: InstanceOverview,
  config: BackupsConfig,
  backups: readonly Backup[],
  skew: number | undefined,
): string[] {
  const warnings: string[] = [];
  if (
    overview.state !== undefined &&
    !USUAL_STATES.has(overview.state) &&
    !BLOCKING_STATES.has(overview.state)
  )
    warnings.push(`the state "${show(overview.state, 40)}" is not one that lifeboat knows`);
  if (config.exclude_from_auto_backup === true)
    warnings.push('the instance is excluded from scheduled backups');
  if (backups.length > 0 && newestOf(backups) === undefined) warnings.push('none of its backups is done');
  if (skew !== undefined && Math.abs(skew) > SKEW_WORTH_A_WORD_S)
    warnings.push(`the clock of the service differs by ${skew} s from the one here`);
  return warnings;
}

/** Whole seconds the service's clock is ahead; what cannot be told from none is none. */
function secondsAhead(skew: Skew | undefined): number | undefined {
  if (skew === undefined) return undefined;
  return Math.abs(skew.skewMs) <= skew.uncertaintyMs ? 0 : Math.round(skew.skewMs / 1000);
}
