import { mayBeOfOneInstance } from '../../machines/parts/backup-id.ts';
import type { LostInstance, TargetFacts, TargetIdentity } from '../../machines/parts/recovery-data.ts';
import { failureOf, LifeboatError, type LifeboatErrorOptions } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import { formatBytes } from '../base/format.ts';
import { isSameInstance } from '../base/instance-url.ts';
import { holdingsOf, TARGET_STATES } from '../base/target-readiness.ts';
import { show } from '../base/text.ts';
import type { ServiceClient } from '../service/client.ts';
import { type MetricPoint, PARACHUTE, type ParachuteDisk, parachuteDisks } from '../service/metrics.ts';
import type { Backup, InstanceOverview, Restore } from '../service/schemas.ts';
import { type ActivityOf, ok, readVerb } from './activity.ts';
import { doneBackups, isUnderWay, newestOf, oddRows } from './baseline.ts';
import { secondsAhead } from './clocks.ts';
import type { ActivityDeps } from './deps.ts';
import { START_IT } from './preflight.ts';

const SKEW_WORTH_A_WORD_S = 60;
/** Enough tasks under way to show. */
const MAX = 50;

/**
 * Its identity, whether it is empty, fits the source and has room. Only GETs. Metrics and the platform are
 * optional: gaps are warnings. `sourceDeps` is the source of the config.
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

/** Omits what is not reported, so that a comparison sees that. */
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

const MAX_NAMES = 100;

/**
 * Those in the config, except `intended`, and those of the platform. A platform that cannot be asked is a
 * warning. Rejects only if the signal is aborted.
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

/** On the target's fullest disk. */
interface TargetRoom {
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
 * The room under the parachute's threshold (service-api.md section 2.8), as far as the metrics tell: the
 * persistent disk with the least room among all nodes counts. Rejects only if the signal is aborted.
 */
async function targetDisk(
  service: Pick<ServiceClient, 'metrics'>,
  backupBytes: number | undefined,
  signal: AbortSignal,
): Promise<TargetRoom> {
  try {
    const { value } = await service.metrics({ quantity: QUANTITY, containing: PARACHUTE, signal });
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

/** The worst blocker first. Pure. */
function targetBlockers(seen: SeenTarget): {
  readonly blockers: Failure[];
  readonly warnings: readonly string[];
} {
  const same = sourceOrTarget(seen);
  const blockers = [
    ...same.blockers,
    ...kindBlockers(seen),
    ...stateBlockers(seen),
    ...emptinessBlockers(seen),
    ...diskBlockers(seen),
  ];
  return { blockers, warnings: [...same.warnings, ...unknowns(seen)] };
}

function kindBlockers({ name, source, identity }: SeenTarget): Failure[] {
  const evidence = {
    target: { service: cleaned(identity.serviceId), plan: cleaned(identity.planId) },
    source: { service: cleaned(source?.serviceId), plan: cleaned(source?.planId) },
  };
  const fresh = 'choose a fresh instance of the same service and plan';
  return [
    ...(differs(source?.serviceId, identity.serviceId)
      ? [
          blocker(
            'other-service',
            `target ${name} belongs to a different service from the source`,
            [fresh],
            evidence,
          ),
        ]
      : []),
    ...(differs(source?.planId, identity.planId)
      ? [
          blocker(
            'other-plan',
            `target ${name} has a different plan from the source`,
            [fresh, 'with less disk or memory, or other extensions, the data may not fit or not load'],
            evidence,
          ),
        ]
      : []),
  ];
}

function stateBlockers({ name, identity, backups, restores }: SeenTarget): Failure[] {
  const { state } = identity;
  if (state === 'deleted')
    return [blocker('deleted', `target ${name} is deleted`, ['choose another instance'])];
  const busy = [
    ...backups.filter(isUnderWay).map(({ id }) => `backup ${id}`),
    ...restores.filter(isUnderWay).map(({ id }) => `restore ${id}`),
  ].slice(0, 5);
  return [
    ...(state === undefined || TARGET_STATES.has(state)
      ? []
      : [
          blocker(
            'state',
            `target ${name} is ${show(state, 40)}`,
            [state === 'stopped' ? START_IT : 'wait until it is available, then look again'],
            { state: show(state, 40) },
          ),
        ]),
    ...(busy.length === 0
      ? []
      : [
          blocker(
            'state',
            `target ${name} is busy: ${busy.join(', ')} under way`,
            ['wait until it is done, then look again'],
            { busy },
          ),
        ]),
  ];
}

/** A new instance may have scheduled backups of an empty database: a person must judge them. */
function emptinessBlockers({ name, identity, backups, unseenApps }: SeenTarget): Failure[] {
  const { boundApps, restores } = identity;
  const newest = newestOf(backups);
  const apps = boundApps.length + unseenApps;
  const holds = holdingsOf({ apps, backups: identity.backups, restores });
  if (holds === undefined) return [];
  const size = newest?.size === undefined ? 'a size that is not reported' : formatBytes(newest.size);
  return [
    blocker(
      'not-empty',
      `target ${name} is not empty: it holds ${holds} of its own`,
      [
        'choose a fresh instance of the same service and plan',
        ...(newest === undefined
          ? []
          : [
              `a fresh instance may have scheduled backups of an empty database: the newest one here has ${size}`,
            ]),
        'to overwrite it on purpose, type its name',
      ],
      {
        boundApps,
        unseenApps,
        backups: identity.backups,
        restores,
        newestBackup: newest?.id ?? null,
        newestBytes: newest?.size ?? null,
        newestAt: cleaned(newest?.triggered_at),
      },
    ),
  ];
}

function diskBlockers({ name, room: { disk, isOpen } }: SeenTarget): Failure[] {
  if (disk === undefined) return [];
  const { usedPercent, threshold, freeBytes, needBytes } = disk;
  const lacks = freeBytes !== undefined && needBytes !== undefined && needBytes > freeBytes;
  if (!isOpen && usedPercent < threshold && !lacks) return [];
  const finding =
    isOpen || usedPercent >= threshold
      ? `the disk of target ${name} is ${usedPercent} % full, and its parachute opens at ${threshold} %`
      : `the data may need ${formatBytes(needBytes ?? 0)}, ` +
        `and target ${name} has ${formatBytes(freeBytes ?? 0)} before its parachute opens`;
  const hints = ['choose an instance with a larger disk: an open parachute stops the database mid-restore'];
  return [
    blocker('disk', finding, hints, {
      usedPercent,
      threshold,
      freeBytes: freeBytes ?? null,
      needBytes: needBytes ?? null,
    }),
  ];
}

function unknowns({ source, identity }: SeenTarget): string[] {
  const blind =
    source?.serviceId === undefined ||
    source.planId === undefined ||
    identity.serviceId === undefined ||
    identity.planId === undefined;
  return [
    ...(blind ? ['service and plan of source and target could not all be compared'] : []),
    ...(identity.state === undefined ? ['the service does not report the state of the target'] : []),
  ];
}

function blocker(
  code: string,
  shortMessage: string,
  hints: readonly string[],
  evidence: LifeboatErrorOptions['evidence'] = {},
): Failure {
  return new LifeboatError(`target.${code}`, shortMessage, { hints, evidence }).toFailure();
}

function differs(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}

function cleaned(text: string | undefined): string | null {
  return text === undefined ? null : show(text, 100);
}

interface SeenTarget {
  readonly name: string;
  readonly source: LostInstance | undefined;
  /** In the config, however the address is spelled. */
  readonly isAtSource: boolean;
  readonly identity: TargetIdentity;
  readonly backups: readonly Backup[];
  readonly restores: readonly Restore[];
  readonly unseenApps: number;
  readonly room: TargetRoom;
}

/**
 * The same name or address in the config shows that the target is the source, and so do backups whose ids
 * begin with the source's guid (domain 1.2). The same id within the same service does not: instances of
 * another region count from 1 as well. It counts only if nothing contradicts it, which the source's backups
 * would; otherwise it is a warning.
 */
function sourceOrTarget({ name, source, isAtSource, identity, backups }: SeenTarget): {
  readonly blockers: readonly Failure[];
  readonly warnings: readonly string[];
} {
  if (source === undefined) return { blockers: [], warnings: [] };
  if (source.instance === name) return found(name, 'it has the same name');
  if (isAtSource) return found(name, `the config gives it the address of ${source.instance}`);
  const guid = source.backupGuid;
  const ids = backups.flatMap(({ backup_id }) => backup_id ?? []);
  if (guid !== undefined && ids.some((id) => mayBeOfOneInstance(id, guid)))
    return found(name, 'its backups are those of the source');
  const isTwin =
    source.instanceId !== undefined &&
    source.instanceId === identity.instanceId &&
    (source.serviceId === undefined || source.serviceId === identity.serviceId);
  if (!isTwin) return { blockers: [], warnings: [] };
  const isContradicted = backups.length === 0 || (guid !== undefined && ids.length > 0);
  if (!isContradicted) return found(name, 'it has the same id');
  return {
    blockers: [],
    warnings: [
      `target ${name} has the same id as the source: ` +
        'right in another region, a mistake if both addresses lead to one instance',
    ],
  };
}

function found(name: string, why: string) {
  const failure = new LifeboatError('target.is-source', `target ${name} is the source itself: ${why}`, {
    hints: ['choose another instance; to restore an instance in place, use restore-backup'],
    evidence: { why },
  });
  return { blockers: [failure.toFailure()], warnings: [] };
}
