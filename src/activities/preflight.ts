import type { Baseline } from '../../machines/parts/task-data.ts';
import type { InputOf } from '../../machines/verbs.ts';
import type { Failure } from '../base/failure.ts';
import { futureWords } from '../base/format.ts';
import { futureSeconds } from '../base/instant.ts';
import { show } from '../base/text.ts';
import type { ServiceClient } from '../service/client.ts';
import type { Restore } from '../service/schemas.ts';
import { type ActivityOf, ok, readVerb } from './activity.ts';
import {
  factsOfBackup,
  instanceBaseline,
  isUnderWay,
  newestOf,
  readInstance,
  restoreWords,
} from './baseline.ts';
import { clockOf, secondsAhead } from './clocks.ts';
import type { ActivityDeps } from './deps.ts';
import { lackOfKey } from './restore-fits.ts';

/** A key change makes no sense in these; an unknown state only warns (service-api.md section 3). */
const BLOCKING_STATES = new Set(['deleted', 'deploying', 'failed', 'stopped']);
const USUAL_STATES = new Set(['available', 'provisioned']);
/** Revisions after 62 can stop an instance, and start it again (a beta: `POST /v1/instances/ID/start`). */
export const START_IT =
  'start it, in its dashboard or by POST /v1/instances/ID/start, wait until it is available, then try again';
const SKEW_WORTH_A_WORD_S = 60;

type Seen = Awaited<ReturnType<typeof readInstance>>;

/**
 * Everything that a change depends on: instance, configuration, backups, the key store. Only GETs. The
 * permission to change shows only at the change itself: a 403 there changes nothing. Facts without a call in
 * the interface are listed in `unsaid`, never guessed.
 */
export function preflight(deps: ActivityDeps): ActivityOf<'preflight'> {
  return readVerb(async (input, { signal, now }) => {
    const { limits } = deps.service;
    await deps.keyring.store.probe();
    const { seen, baseline, skew, warnings, blockers } = await lookAtInstance(
      deps.service,
      input,
      signal,
      now(),
    );
    const lack = input.needsKey === true ? await lackOfKey(deps.keyring, input.instance) : undefined;
    const current = await deps.currentKey();
    const expires = await deps.tokenExpires();
    const escrowLack = await deps.escrow?.lack();
    const isSimulated = deps.service.isSimulated();
    return ok({
      ...serviceFacts(seen),
      baseline,
      keysHeld: [...(await deps.keyring.list(input.instance))],
      ...(current === undefined ? {} : { currentKey: current }),
      keyStore: deps.keyring.store.description,
      ...(deps.escrow === undefined
        ? {}
        : { escrow: { places: [...deps.escrow.places], recipients: [...deps.escrow.recipients] } }),
      ...(limits === undefined ? {} : { unsaid: { by: limits.name, what: [...limits.unsaid] } }),
      ...(expires === undefined ? {} : { tokenExpires: expires }),
      ...(skew === undefined ? {} : { clockSkewSeconds: skew }),
      ...(isSimulated ? { simulated: true as const } : {}),
      warnings: [
        ...(isSimulated ? ['the service says that it is simulated: this run proves nothing'] : []),
        ...(limits === undefined ? [] : [limits.deprecation]),
        ...warnings,
        ...(escrowLack === undefined ? [] : [`a new key could not go into escrow: ${escrowLack}`]),
      ],
      blockers: [...blockers, ...(lack === undefined ? [] : [lack])],
    });
  });
}

interface InstanceLook {
  readonly seen: Seen;
  readonly baseline: Baseline;
  /** How far the service's clock is ahead. */
  readonly skew: number | undefined;
  readonly warnings: readonly string[];
  /** The worst first. */
  readonly blockers: readonly Failure[];
}

/** Without key and ledger. Rejects with the first failure of the GETs. */
async function lookAtInstance(
  service: ServiceClient,
  { instance, tolerant = false, restores: wanted }: InputOf<'preflight'>,
  signal: AbortSignal,
  now = new Date(),
): Promise<InstanceLook> {
  const seen = await readInstance(service, signal, { restores: wanted });
  const { overview, config, backups, restores } = seen;
  const baseline = instanceBaseline(overview, config, backups, restores);
  const skew = secondsAhead(seen.skew);
  const obstacles = [...obstaclesOf(instance, baseline), ...restoreObstacles(instance, restores)];
  const isBorne = ({ code, evidence }: Failure) =>
    tolerant && (code === 'service.task-running' || evidence['state'] === 'failed');
  const unreported =
    restores === 'not reported'
      ? ['the service does not report whether a restore is under way: look at its dashboard']
      : [];
  const borne = obstacles.filter(isBorne).map(({ shortMessage }) => shortMessage);
  return {
    seen,
    baseline,
    skew,
    warnings: [
      ...warningsOf(seen, skew),
      ...ofFuture(seen, now),
      ...unreported,
      ...seen.oddBackups,
      ...(seen.oddRestores ?? []),
      ...borne,
    ],
    blockers: obstacles.filter((obstacle) => !isBorne(obstacle)),
  };
}

function serviceFacts({ overview, config, backups }: Pick<Seen, 'overview' | 'config' | 'backups'>) {
  const newest = newestOf(backups);
  return {
    service: {
      ...(overview?.id === undefined ? {} : { id: String(overview?.id) }),
      ...(overview?.name === undefined ? {} : { name: overview.name }),
      ...(overview?.state === undefined ? {} : { state: overview.state }),
      ...(overview?.plan_id === undefined ? {} : { plan: overview.plan_id }),
      ...(overview?.service_id === undefined ? {} : { offering: overview.service_id }),
      ...(overview?.tenant_name === undefined ? {} : { tenant: overview.tenant_name }),
    },
    ...(config?.retention_time === undefined ? {} : { retentionDays: config.retention_time }),
    ...(config?.min_backup_count === undefined ? {} : { minBackupCount: config.min_backup_count }),
    ...(config?.exclude_from_auto_backup === undefined
      ? {}
      : { excludedFromAutoBackup: config.exclude_from_auto_backup }),
    ...(config?.backup_type === undefined ? {} : { backupType: config.backup_type }),
    backups: {
      total: backups.length,
      done: backups.filter((backup) => backup.status === 'done').length,
      downloadable: backups.filter((backup) => backup.downloadable === true).length,
    },
    ...(newest === undefined ? {} : { newest: factsOfBackup(newest) }),
  };
}

function obstaclesOf(instance: string, { state, runningTasks }: Baseline): Failure[] {
  const obstacles: Failure[] = [];
  if (state !== undefined && BLOCKING_STATES.has(state)) {
    obstacles.push({
      code: 'instance.state',
      shortMessage: `the instance is ${show(state)}`,
      hints: [
        state === 'deleted'
          ? `it does not come back; to recover its data into another one: lifeboat run disaster-recovery ${instance} --perform --target NAME`
          : state === 'stopped'
            ? START_IT
            : 'wait until it is available, then try again',
      ],
      evidence: { state: show(state) },
    });
  }
  if (runningTasks.length > 0) {
    obstacles.push({
      code: 'service.task-running',
      shortMessage: `a backup is under way: ${runningTasks.slice(0, 5).join(', ')}`,
      hints: ['wait until it is done, then try again: nobody knows which key it will be written with'],
      evidence: { backups: runningTasks.slice(0, 50) },
    });
  }
  return obstacles;
}

/** The next restore would overwrite this one. */
function restoreObstacles(
  instance: string,
  restores: readonly Restore[] | 'not reported' | undefined,
): Failure[] {
  if (restores === undefined || restores === 'not reported') return [];
  const open = restores.filter(isUnderWay).slice(0, 50);
  const [first] = open;
  if (first === undefined) return [];
  const failure: Failure = {
    code: 'service.restore-running',
    shortMessage: restoreWords(first, instance),
    hints: [
      `to wait for it: lifeboat restores get ${first.id} --wait --instance ${instance}`,
      'nothing was sent',
    ],
    evidence: { restores: open.map(({ id }) => id) },
  };
  return [failure];
}

/** With a time in the future of the service's own clock, no age can be derived from its times. */
function ofFuture({ backups, skew }: Seen, now: Date): string[] {
  const newest = newestOf(backups);
  const aheadSeconds = futureSeconds(newest?.triggered_at, clockOf(now, skew));
  return newest === undefined || aheadSeconds === undefined
    ? []
    : [`backup ${newest.id} is ${futureWords(aheadSeconds)}`];
}

function warningsOf({ overview, config, backups }: Seen, skew: number | undefined): string[] {
  const warnings: string[] = [];
  const state = overview?.state;
  if (state !== undefined && !USUAL_STATES.has(state) && !BLOCKING_STATES.has(state))
    warnings.push(`the state "${show(state, 40)}" is not one that lifeboat knows`);
  if (config?.exclude_from_auto_backup === true)
    warnings.push('the instance is excluded from scheduled backups');
  if (backups.length > 0 && newestOf(backups) === undefined) warnings.push('none of its backups is done');
  if (skew !== undefined && Math.abs(skew) > SKEW_WORTH_A_WORD_S)
    warnings.push(`the clock of the service differs by ${skew} s from the one here`);
  return warnings;
}
