import { mayBeOfOneInstance } from '../../machines/parts/backup-id.ts';
import type { LostInstance, TargetIdentity } from '../../machines/parts/recovery-data.ts';
import { LifeboatError, type LifeboatErrorOptions } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import { counted, formatBytes } from '../base/format.ts';
import { show } from '../base/text.ts';
import type { Backup, Restore } from '../service/schemas.ts';
import { isUnderWay, newestOf } from './baseline.ts';
import type { TargetRoom } from './inspect-target.ts';
import { START_IT } from './preflight.ts';

/** The states in which an instance can be recovered into (service-api.md section 2.4). */
const READY: ReadonlySet<string> = new Set(['available', 'provisioned']);

/** Obstacles to the target, the worst first, and mere warnings. Pure. */
export function targetBlockers(seen: SeenTarget): {
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
    ...(state === undefined || READY.has(state)
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

/** Even a new instance may have scheduled backups of nothing: a person must judge whether they hold data. */
function emptinessBlockers({ name, identity, backups, unseenApps }: SeenTarget): Failure[] {
  const { boundApps, restores } = identity;
  const newest = newestOf(backups);
  const holds = [
    some(boundApps.length + unseenApps, 'bound app'),
    some(identity.backups, 'backup'),
    some(restores, 'restore'),
  ].filter((text) => text !== undefined);
  if (holds.length === 0) return [];
  const size = newest?.size === undefined ? 'a size that is not reported' : formatBytes(newest.size);
  return [
    blocker(
      'not-empty',
      `target ${name} is not empty: it holds ${joined(holds)} of its own`,
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

function some(count: number, noun: string): string | undefined {
  return count === 0 ? undefined : counted(count, noun);
}

function joined(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

function cleaned(text: string | undefined): string | null {
  return text === undefined ? null : show(text, 100);
}

export interface SeenTarget {
  readonly name: string;
  readonly source: LostInstance | undefined;
  /** The config gives both the same address, however it is spelled. */
  readonly isAtSource: boolean;
  readonly identity: TargetIdentity;
  readonly backups: readonly Backup[];
  readonly restores: readonly Restore[];
  readonly unseenApps: number;
  readonly room: TargetRoom;
}

/**
 * Whether the target is the source itself. The same name or address in the config shows it, and so do backups
 * whose ids begin with the source's guid (domain 1.2). The same id within the same service does not:
 * instances of another region count from 1 as well. It counts only if nothing contradicts it, which the
 * source's backups would; otherwise it is a warning.
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
