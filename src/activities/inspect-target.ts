import type { TargetFacts, TargetIdentity } from '../../machines/parts/recovery-data.ts';
import { failureOf } from '../base/errors.ts';
import { isSameInstance } from '../base/instance-url.ts';
import { show } from '../base/text.ts';
import type { ServiceClient } from '../service/client.ts';
import { type MetricPoint, type ParachuteDisk, parachuteDisks } from '../service/metrics.ts';
import type { Backup, InstanceOverview, Restore } from '../service/schemas.ts';
import type { ActivityOf } from './activity.ts';
import { doneBackups, isUnderWay, oddRows } from './baseline.ts';
import { secondsAhead } from './clocks.ts';
import type { ActivityDeps } from './deps.ts';
import { ok, readVerb } from './results.ts';
import { targetBlockers } from './target-blockers.ts';

const SKEW_WORTH_A_WORD_S = 60;
/** Enough to show the tasks under way; more would be no stronger reason. */
const MAX = 50;

/**
 * Inspects the instance that a recovery goes into: its identity, whether it is empty, fits the source and has
 * room. Only GETs. Metrics and the platform are optional; what they do not report is a warning. `sourceDeps`
 * is the source of the config.
 */
export function inspectTarget(
  deps: ActivityDeps,
  sourceDeps?: Pick<ActivityDeps, 'dashboardUrl'>,
): ActivityOf<'inspectTarget'> {
  return readVerb(async ({ source, needBytes, apps }, { instance, signal }) => {
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
      isAtSource:
        source !== undefined &&
        sourceDeps !== undefined &&
        isSameInstance(sourceDeps.dashboardUrl, deps.dashboardUrl) === true,
      identity,
      backups: backups.value,
      restores: restores.value,
      unseenApps: bound.unseen,
      room,
    };
    const { blockers, warnings } = targetBlockers(seen);
    const odd = [
      ...oddRows('backup', backups.value, backups.unread),
      ...oddRows('restore', restores.value, restores.unread),
    ];
    return ok({
      identity,
      ...(room.disk === undefined ? {} : { disk: room.disk }),
      ...(skew === undefined ? {} : { clockSkewSeconds: skew }),
      warnings: [...warnings, ...odd, ...bound.warnings, ...room.warnings, ...skewWarnings(skew)],
      blockers,
    });
  });
}

/** Omits what is not reported, so that a comparison sees it as such. */
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
      .slice(0, MAX)
      .map(({ id }) => id),
    boundApps: [...boundApps],
  };
}

function skewWarnings(skew: number | undefined): string[] {
  if (skew === undefined || Math.abs(skew) <= SKEW_WORTH_A_WORD_S) return [];
  return [`the clock of the service differs by ${skew} s from the one here`];
}

interface Bound {
  /** Cleaned, sorted, unique. */
  readonly names: readonly string[];
  /** Also bound, in spaces that may not be read. */
  readonly unseen: number;
  readonly warnings: readonly string[];
}

/** The maximum number of names kept; more would add nothing. */
const MAX_NAMES = 100;

/**
 * The applications bound to an instance: those in the config, except those in `intended`, and those known to
 * the platform. A platform that cannot be asked is a warning. Rejects only if the signal is aborted.
 */
async function boundAt(
  { apps, platform, dashboardUrl }: Pick<ActivityDeps, 'apps' | 'platform' | 'dashboardUrl'>,
  intended: readonly string[],
  signal: AbortSignal,
): Promise<Bound> {
  const configured = (apps ?? []).map(({ name }) => name).filter((name) => !intended.includes(name));
  const known = await asked(platform, dashboardUrl, signal);
  const names = new Set([...configured, ...known.names].map((name) => show(name, 100)));
  return { ...known, names: [...names].sort().slice(0, MAX_NAMES) };
}

async function asked(
  open: ActivityDeps['platform'],
  dashboardUrl: string,
  signal: AbortSignal,
): Promise<Bound> {
  try {
    const platform = await open();
    if ('none' in platform) return unknownBound(platform.none);
    const found = await platform.find(dashboardUrl, signal);
    return {
      names: found.apps.map(({ name }) => name),
      unseen: found.unseen.reduce((sum, { apps }) => sum + apps, 0),
      warnings: [],
    };
  } catch (thrown) {
    signal.throwIfAborted();
    return unknownBound(failureOf(thrown).shortMessage);
  }
}

function unknownBound(why: string): Bound {
  return {
    names: [],
    unseen: 0,
    warnings: [`the platform was not asked which applications are bound: ${show(why, 200)}`],
  };
}

/** The room for the data on the target's fullest disk. */
export interface TargetRoom {
  readonly disk: TargetFacts['disk'];
  /** The parachute has opened: the node is stopped. */
  readonly isOpen: boolean;
  readonly warnings: readonly string[];
}

/** Points of several samples of a cluster; the service lists the latest last. */
const QUANTITY = 2_000;
/** A backup is compressed; during a restore it and its logs are on the disk beside the data (domain N17). */
const FACTOR = 3;

/**
 * Estimates whether the data of a backup fits under the parachute's threshold (service-api.md section 2.8),
 * as far as the metrics tell: the persistent disk with the least room among all nodes counts. Rejects only if
 * the signal is aborted.
 */
async function targetDisk(
  service: Pick<ServiceClient, 'metrics'>,
  backupBytes: number | undefined,
  signal: AbortSignal,
): Promise<TargetRoom> {
  try {
    const { value } = await service.metrics({ quantity: QUANTITY, signal });
    return roomOf(value, backupBytes);
  } catch (thrown) {
    signal.throwIfAborted();
    return unknownRoom(failureOf(thrown).shortMessage);
  }
}

function roomOf(points: readonly MetricPoint[], backupBytes: number | undefined): TargetRoom {
  const disks = parachuteDisks(points).filter(({ disk }) => disk === 'persistent');
  const rooms = disks.flatMap((disk) => measured(disk, points) ?? []);
  const [least] = rooms.toSorted((one, other) => one.percent - other.percent);
  if (least === undefined) return unknownRoom('the metrics do not report it');
  const isOpen = disks.some(({ activated }) => activated === true);
  const { usedPercent, threshold, freeBytes } = least;
  const needBytes = backupBytes === undefined ? undefined : backupBytes * FACTOR;
  const disk = {
    usedPercent,
    threshold,
    ...(freeBytes === undefined ? {} : { freeBytes }),
    ...(needBytes === undefined ? {} : { needBytes }),
  };
  const warnings =
    freeBytes === undefined || needBytes === undefined
      ? [
          'it is unknown whether the data fits on the disk of the target: ' +
            'the size of the data or the free space is not known',
        ]
      : [];
  return { disk, isOpen, warnings };
}

function measured(disk: ParachuteDisk, points: readonly MetricPoint[]) {
  const { usedPercent, usedThreshold: threshold, service, index } = disk;
  if (usedPercent === undefined || threshold === undefined) return undefined;
  const prefix = service === undefined ? '' : `${service}.${index}.`;
  const path = `${prefix}parachute.disk.${disk.disk}.total`;
  const total = points
    .filter((point) => point.path === path)
    .toSorted((a, b) => a.atMs - b.atMs)
    .at(-1)?.value;
  const percent = threshold - usedPercent;
  const freeBytes = total === undefined ? undefined : Math.max(0, Math.floor((total * percent) / 100));
  return { usedPercent, threshold, percent, freeBytes };
}

function unknownRoom(why: string): TargetRoom {
  return { disk: undefined, isOpen: false, warnings: [`the disk of the target is not known: ${why}`] };
}
