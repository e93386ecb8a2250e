import type { Failure } from '../../src/base/failure.ts';
import { instantOf } from '../../src/base/instant.ts';
import { counted } from '../../src/base/quantity.ts';
import type { RunContext } from '../context.ts';
import { guidOf } from '../parts/backup-id.ts';
import type { FollowUp } from '../parts/follow-up.ts';
import type { ProvenBackup, ReachableRange } from '../parts/recovery-data.ts';
import type { TaskBeside } from '../parts/task-data.ts';
import { landedOf, type RestoreFacts } from '../parts/task-data.ts';
import { replacesData, type Touches, touchesOf } from '../parts/touches.ts';
import { leftUnbound, stillOpen } from '../parts/unfinished.ts';

export function touchesOfRun({ run }: Pick<RunContext, 'run'>): Touches {
  const { runbook, mode, action, target, single } = run;
  const name = target.kind === 'other' ? target.name : undefined;
  return touchesOf(runbook, { mode, action, target: name, single });
}

/** The instance that the recovered data comes from, and under whose name its key is kept. */
export function sourceName({ run }: Pick<RunContext, 'run'>): string {
  return run.single?.source ?? run.instance;
}

export function leavesFollowUps(context: Pick<RunContext, 'run'>): boolean {
  return replacesData(touchesOfRun(context)) && context.run.single?.noFollowUps === undefined;
}

export function restoredSide(context: Pick<RunContext, 'run'>): 'instance' | 'target' {
  return touchesOfRun(context).target === 'replaced' ? 'target' : 'instance';
}

export function restoredName(context: Pick<RunContext, 'run'>): string {
  const { target, instance } = context.run;
  return restoredSide(context) === 'target' && target.kind === 'other' ? target.name : instance;
}

export function credentials(context: RunContext): string {
  return restoredSide(context) === 'target'
    ? `the credentials of ${restoredName(context)}`
    : 'its new credentials';
}

/** The open follow-ups that the platform, its tool or a command of the config can do. */
export function platformFollowUps({ followUps: { list } }: RunContext): readonly FollowUp[] {
  return stillOpen(list).filter(
    ({ doable }) => doable === 'platform' || doable === 'cf' || doable === 'command',
  );
}

/** Whether the config says `platform: none`; then no text uses words of a platform. */
export function isWithoutPlatform({ followUps: { bound } }: RunContext): boolean {
  return bound?.platform === 'none';
}

/** Whether the next application would meet the failure, too. */
export function isForAll({ code }: Failure): boolean {
  return code === 'platform.busy' || code === 'platform.unreachable';
}

/** A failed one waits for a person. */
export function nextForPlatform(context: RunContext): FollowUp | undefined {
  return platformFollowUps(context).find(({ id }) => !context.followUps.stuck.includes(id));
}

export function isOpen({ followUps: { list } }: RunContext, id: string | undefined): boolean {
  return stillOpen(list).some((followUp) => followUp.id === id);
}

export function rebindId(key: string): string {
  return `rebind-${key}`;
}

export function serviceKeyId(name: string): string {
  return `service-key-${name}`;
}

/** The earliest time of a binding to the restored data. */
export function notBefore({ restore, followUps: { bound } }: RunContext): string {
  return endOf(restore.restore) ?? bound?.foundAt ?? '';
}

/** When a task ended; undefined if its times lie in the future of the service's clock. */
export function endOf(
  task: Pick<RestoreFacts, 'finishedAt' | 'aheadSeconds'> | undefined,
): string | undefined {
  return task?.aheadSeconds === undefined ? task?.finishedAt : undefined;
}

/** The platform's instance that applications are bound to after the restore. */
export function platformInstance(context: RunContext) {
  return context.followUps.bound?.to ?? { guid: '', name: restoredName(context) };
}

export function bindsBeside({ followUps: { bound } }: RunContext): boolean {
  return bound?.order === 'no-downtime';
}

/** Whether a time lies within what the service says it can reach, both edges included. */
export function isReachable(
  range: Pick<ReachableRange, 'start' | 'end'> | undefined,
  time: string | undefined,
): boolean {
  return isWithin(time, range?.start, range?.end);
}

/** Why a reachable time is a risk: it is close to an edge of the range. Undefined otherwise. */
export function nearEdge(range: ReachableRange | undefined, time: string | undefined): string | undefined {
  if (!isReachable(range, time) || isWithin(time, range?.earliest, range?.latest)) return undefined;
  return (
    `${time} is close to an edge of the range, ${range?.start} to ${range?.end}: such a restore can fail, ` +
    'or begin from an empty database'
  );
}

function isWithin(time: string | undefined, first: string | undefined, last: string | undefined): boolean {
  const [at, from, to] = [time, first, last].map(instantOf);
  return at !== undefined && from !== undefined && to !== undefined && from <= at && at <= to;
}

/** A sentence if the service reports that it restored to another time than the chosen one. */
export function restoredToAnotherTime({ choose: { time }, restore }: RunContext): string | undefined {
  const asked = instantOf(time);
  const from = instantOf(restore.restore?.restoredFrom);
  if (asked === undefined || from === undefined || Math.abs(asked - from) <= 1000) return undefined;
  return `the service says that it restored to ${restore.restore?.restoredFrom}, not to ${time}`;
}

/** Whether the service confirms the restore and the state of the instance. */
export function isRestored({ restore, available: { ready } }: RunContext): boolean {
  return restore.restore?.status === 'done' && restore.outside === undefined && ready !== undefined;
}

/** `isRestored`, no other restore replaced it, and everything that used the data runs on it again. */
export function isRecovered(context: RunContext): boolean {
  return isRestored(context) && !isReplaced(context) && leftUnbound(context.followUps.list).length === 0;
}

export function hasActed({ act, available: { ready } }: RunContext): boolean {
  return landedOf(act) !== undefined && act.outside === undefined && ready !== undefined;
}

/** The backup that the ledger has on record as proven, by its id within the instance. */
export function provenOnRecord({
  card: { onRecord },
  preflight: { facts },
}: RunContext): ProvenBackup | undefined {
  const { newest } = facts ?? {};
  return onRecord?.proven.find(
    ({ id, backupId }) => id === newest?.id && (backupId === undefined || backupId === newest.backupId),
  );
}

/** Whether the backups' ids begin with the guid (domain: cross-check); undefined when no id shows it. */
export function agreesWithIds({ card: { guid }, preflight: { facts } }: RunContext): boolean | undefined {
  return isGuidOf(guid, facts?.newest?.backupId);
}

/** Whether a backup's id begins with a guid; undefined when either is missing or the id has another form. */
export function isGuidOf(guid: string | undefined, backupId: string | undefined): boolean | undefined {
  const shown = guidOf(backupId);
  if (guid === undefined || shown === undefined) return undefined;
  return shown.toLowerCase() === guid.toLowerCase();
}

export function isNeverPassed({ code }: Failure): boolean {
  return code === 'target.is-source' || code === 'target.other-service';
}

/** The data is not counted a second time. */
export function isLookedAt({ before }: RunContext): boolean {
  return before.counted !== undefined;
}

/** Restores of others, or of a second copy of our request, as last seen. */
function restoresBeside({ restore, record }: RunContext): readonly TaskBeside[] {
  const seen = [...(restore.restore?.beside ?? []), ...(record.beside ?? [])];
  return [...new Map(seen.map((one) => [one.id, one])).values()];
}

/**
 * Whether another restore may have replaced this one: it came after the run had looked at the data, has not
 * ended well, or is not known to bring back the same.
 */
export function isReplaced(context: RunContext): boolean {
  const own = context.restore.restore;
  const before = new Set(own?.beside?.map(({ id }) => id));
  return restoresBeside(context).some(
    (other) => !before.has(other.id) || other.status !== 'done' || !isSame(own, other),
  );
}

type Content = Pick<TaskBeside, 'backup' | 'restoredFrom'>;

function isSame(own: Content | undefined, other: Content): boolean {
  const isKnown = other.backup !== undefined || other.restoredFrom !== undefined;
  return isKnown && own?.backup === other.backup && own?.restoredFrom === other.restoredFrom;
}

export function besideNotes(context: RunContext): readonly { step: string; reason: string }[] {
  const { unlooked } = context.record;
  return [
    ...restoresBeside(context).map(({ id, status }) => ({
      step: 'restore',
      reason: `the service shows restore ${id} (${status}), which this run did not send`,
    })),
    ...(unlooked === undefined || context.restore.restore === undefined
      ? []
      : [
          { step: 'record', reason: `whether there is another restore was not seen at the end: ${unlooked}` },
        ]),
  ];
}

/** Backups not sent from here: by a schedule, by others, or as a second copy of our request. */
export function backupsBeside({ backup, record, restore }: RunContext): string | undefined {
  const late = restore.restore === undefined ? (record.beside ?? []) : [];
  const ids = new Set([...(backup.backup?.beside ?? []), ...late].map(({ id }) => id));
  if (ids.size === 0) return undefined;
  return `${counted(ids.size, 'more backup')} that this run did not send: ${[...ids].join(', ')}`;
}
