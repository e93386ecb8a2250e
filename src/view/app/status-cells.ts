import { formatTime } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import type { Answer, BackupStatus, InstanceStatus, Reason } from '../fleet/status-schema.ts';
import { briefly } from '../follow-up-words.ts';
import type { Fleet } from './sources.ts';

/** The state of an instance in table cells, for every renderer. `?` means unknown. */

/** One word for each answer; the one that needs action is in capitals. */
export const ANSWER_WORDS: Readonly<Record<Answer, string>> = {
  yes: 'yes',
  no: 'NO',
  unknown: 'unknown',
  empty: 'target',
};

/**
 * Whether applications can use it now: `yes`, `NO`, `DOWN` if it does not answer, `NOT FOUND` if its address
 * knows no such instance, or `?`.
 */
export function serviceCell({
  down,
  notFound,
  inService,
}: Pick<InstanceStatus, 'down' | 'notFound' | 'inService'>): string {
  if (down !== undefined) return 'DOWN';
  if (notFound !== undefined) return 'NOT FOUND';
  return inService.answer === 'unknown' ? '?' : ANSWER_WORDS[inService.answer];
}

/** Whether the recoverable data meets the RPO: `yes`, `NO`, `?`, or `none` without an RPO. */
export function objectivesCell({ objectives }: Pick<InstanceStatus, 'objectives'>): string {
  if (objectives === undefined) return 'none';
  return objectives.answer === 'unknown' ? '?' : ANSWER_WORDS[objectives.answer];
}

/** The backup that a recovery would take: `backup 7, 2h old, proven`; `fits` is weaker than `proven`. */
export function openerWords({ opener }: Pick<InstanceStatus, 'opener'>): string | undefined {
  if (opener === undefined) return undefined;
  const { id, ageSeconds, how, key } = opener;
  const age = ageSeconds === undefined ? 'of unknown age' : `${briefly(ageSeconds)} old`;
  return `backup ${id}, ${age}, ${how === 'proven' ? `proven with key ${key}` : `key ${key} fits`}`;
}

/** Since when it is gone: `DOWN (last seen 5m ago, 2026-03-10 11:55:00 UTC): connection refused`. */
export function absenceWords(
  { down, notFound }: Pick<InstanceStatus, 'down' | 'notFound'>,
  now: Date,
): string | undefined {
  const absence = down ?? notFound;
  if (absence === undefined) return undefined;
  const { seenAt, why } = absence;
  const seen =
    seenAt === undefined
      ? 'never seen from here'
      : `last seen ${briefly((now.getTime() - msOf(seenAt)) / 1000)} ago, ${formatTime(seenAt)} UTC`;
  return `${down === undefined ? 'NOT FOUND' : 'DOWN'} (${seen}): ${why}`;
}

/** Replaces an age if the service's time lies in its own future. */
export function futureCell(aheadSeconds: number): string {
  return `FUTURE ${briefly(aheadSeconds)}`;
}

/** `3h 5m`, `2d 4h LATE` if it is older than the RPO, `none`, or `?` if unknown. */
export function backupCell(
  { parts }: InstanceStatus,
  backup: Pick<BackupStatus, 'ageSeconds' | 'aheadSeconds' | 'meetsRpo'> | undefined,
): string {
  if (backup === undefined)
    return parts.backups.state === 'known' && parts.record.state === 'known' ? 'none' : '?';
  if (backup.aheadSeconds !== undefined) return futureCell(backup.aheadSeconds);
  if (backup.ageSeconds === undefined) return '?';
  return `${briefly(backup.ageSeconds)}${backup.meetsRpo === false ? ' LATE' : ''}`;
}

/** The age of the newest backup, or `3h 5m seen` for the last one that was seen. */
export function newestCell(status: InstanceStatus): string {
  const { newestBackup, lastSeenBackup: seen } = status;
  if (newestBackup !== undefined || seen?.ageSeconds === undefined) return backupCell(status, newestBackup);
  return `${briefly(seen.ageSeconds)} seen`;
}

/** The last backup that was seen, and when: `2d 4h old as last seen 3h ago (backup 9)`. */
export function seenWords({ lastSeenBackup }: Pick<InstanceStatus, 'lastSeenBackup'>): string | undefined {
  if (lastSeenBackup === undefined) return undefined;
  const { id, ageSeconds, seenAgeSeconds } = lastSeenBackup;
  const age = ageSeconds === undefined ? 'of unknown age' : `${briefly(ageSeconds)} old`;
  return `${age} as last seen ${briefly(seenAgeSeconds)} ago (backup ${id})`;
}

/** Whether the key of the newest backup is held: `proven`, `held`, `MISSING`. */
export function keyCell({ key: { possible, isProven } }: InstanceStatus): string {
  if (possible.length === 0) return '?';
  if (possible.some(({ isHeld }) => isHeld === false)) return 'MISSING';
  if (possible.some(({ isHeld }) => isHeld === undefined)) return '?';
  return isProven ? 'proven' : 'held';
}

export function cardCell(status: InstanceStatus): string {
  return status.card === undefined ? journalCell(status) : briefly(status.card.ageSeconds);
}

/** Time since the last proven run that recovered it. */
export function recoveredCell(status: InstanceStatus): string {
  return status.recovered === undefined ? journalCell(status) : briefly(status.recovered.ageSeconds);
}

/** How far back a point-in-time restore reaches. */
export function windowCell({ window, parts }: InstanceStatus): string {
  if (window === 'none' || parts.window.state === 'missing') return 'none';
  if (window === undefined) return '?';
  return briefly((msOf(window.end) - msOf(window.start)) / 1000);
}

/** Open follow-ups: `0`, `2`, `3, 1 late`. */
export function followUpCell({ followUps }: InstanceStatus): string {
  if (followUps === undefined) return '?';
  const { open, overdue } = followUps;
  return overdue === 0 ? String(open) : `${open}, ${overdue} late`;
}

/** Which recovery a reason rules out, if not both: `in place` or `elsewhere`. */
export function wayOf({ inPlace, elsewhere }: InstanceStatus, { code }: Reason): string {
  const here = inPlace.reasons.some((reason) => reason.code === code);
  const there = elsewhere.reasons.some((reason) => reason.code === code);
  return here && there ? '' : here ? 'in place' : 'elsewhere';
}

/** Notes that rule out nothing now but should be dealt with, one line each. */
export function notesOf({ cautions, provenBackup }: InstanceStatus): readonly string[] {
  if (provenBackup?.isListed !== false) return cautions;
  const { id, provenAt } = provenBackup;
  return [...cautions, `backup ${id}, proven ${formatTime(provenAt)} UTC, is gone`];
}

function journalCell({ parts }: InstanceStatus): string {
  return parts.record.state === 'known' ? 'none' : '?';
}

export type BoardSort = 'danger' | 'name' | 'newest backup' | 'RPO';

export const BOARD_SORTS: readonly BoardSort[] = ['danger', 'name', 'newest backup', 'RPO'];

/**
 * The instances in order: most endangered, by name, oldest newest backup, or furthest over the RPO first.
 * Equal ones keep the order of the config.
 */
export function boardRows(
  { instances }: Pick<Fleet, 'instances'>,
  sort: BoardSort,
): readonly InstanceStatus[] {
  if (sort === 'name') return instances.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const weightOf = WEIGHTS[sort];
  return instances
    .map((status) => ({ status, weight: weightOf(status) }))
    .toSorted((one, other) => (one.weight === other.weight ? 0 : other.weight - one.weight))
    .map(({ status }) => status);
}

export const NOT_FOUND_NEXT =
  'its address answers: compare its url in the config with `cf service NAME` before you call it lost';

const WEIGHTS: Readonly<Record<Exclude<BoardSort, 'name'>, (status: InstanceStatus) => number>> = {
  danger: dangerOf,
  'newest backup': ({ newestBackup }) => newestBackup?.ageSeconds ?? Number.MAX_VALUE,
  RPO: ({ rpo, newestBackup }) =>
    rpo === undefined ? -Number.MAX_VALUE : (newestBackup?.ageSeconds ?? Number.MAX_VALUE) / rpo,
};

/**
 * Down comes first, because people are waiting for it; then not found. Locked-out applications and a stopped
 * node weigh as much as an instance that could not be recovered.
 */
function dangerOf(status: InstanceStatus): number {
  const { recoverable, objectives, inService, inDoubt = 0, followUps, openRuns, cautions } = status;
  const answer = { no: 4_000, unknown: 2_000, yes: 1_000, empty: 0 }[recoverable.answer];
  return (
    answer +
    (status.down === undefined ? 0 : 16_000) +
    (status.notFound === undefined ? 0 : 8_000) +
    (inService.answer === 'no' ? 4_000 : 0) +
    (objectives?.answer === 'no' ? 1_500 : 0) +
    (inDoubt > 0 ? 500 : 0) +
    ((followUps?.overdue ?? 0) > 0 ? 200 : 0) +
    (openRuns.length > 0 ? 100 : 0) +
    recoverable.reasons.filter(({ code }) => !code.startsWith('unasked.')).length * 10 +
    cautions.length
  );
}

/** Instances of each kind; each counts once, as the first kind in this order that applies. */
export interface FleetCounts {
  readonly down: number;
  /** Its address knows no such instance. */
  readonly notFound: number;
  readonly no: number;
  readonly outOfService: number;
  /** It answered before and owes an answer now (`silenceOf`). */
  readonly silent: number;
  /** Nothing shows whether it could be recovered now. */
  readonly unknown: number;
  /** The recoverable data is older than its RPO, or of unknown age. */
  readonly beyondRpo: number;
  readonly good: number;
  /** No answer yet since the survey began. */
  readonly waiting: number;
}

/** Counts the instances; an empty target is not counted. */
export function fleetCounts(
  { instances, ...asking }: Pick<Fleet, 'instances'> & Asking,
  now: Date,
): FleetCounts {
  const counts = {
    down: 0,
    notFound: 0,
    no: 0,
    outOfService: 0,
    silent: 0,
    unknown: 0,
    beyondRpo: 0,
    good: 0,
    waiting: 0,
  };
  for (const status of instances) {
    const kind = kindOf(status, asking, now);
    if (kind !== undefined) counts[kind] += 1;
  }
  return counts;
}

function kindOf(status: InstanceStatus, asking: Asking, now: Date): keyof FleetCounts | undefined {
  const { name, recoverable, objectives, inService, down, notFound } = status;
  if (asking.answeredAt?.has(name) !== true) return 'waiting';
  if (recoverable.answer === 'empty') return undefined;
  if (down !== undefined) return 'down';
  if (notFound !== undefined) return 'notFound';
  if (recoverable.answer === 'no') return 'no';
  if (inService.answer === 'no') return 'outOfService';
  if (silenceOf(status, asking, now) !== undefined) return 'silent';
  if (recoverable.answer === 'unknown') return 'unknown';
  return (objectives?.answer ?? 'yes') === 'yes' ? 'good' : 'beyondRpo';
}

/** Whether it is a target that may or may not hold data. */
export function isOpenTarget(
  { name, role }: Pick<InstanceStatus, 'name' | 'role'>,
  answeredAt: Fleet['answeredAt'],
): boolean {
  return role === 'target' && answeredAt?.has(name) !== true;
}

/** The disk nearest to its parachute size: `41/90 %`, `OPEN` if the node was stopped, `none`, or `?`. */
export function diskCell({ disk }: InstanceStatus): string {
  if (disk === undefined) return '?';
  if (disk === 'none') return 'none';
  if (disk.isOpen) return 'OPEN';
  const part = (value: number | undefined) => (value === undefined ? '?' : String(Math.round(value)));
  return `${part(disk.usedPercent)}/${part(disk.threshold)} %`;
}

/** The same in a sentence, with node and disk. */
export function diskWords(status: InstanceStatus): string {
  const { disk } = status;
  if (typeof disk !== 'object') return diskCell(status);
  const { usedPercent, threshold, name, isOpen } = disk;
  if (isOpen) return `its parachute is OPEN, the node is stopped (${name})`;
  const part = (value: number | undefined) => (value === undefined ? '? %' : `${Math.round(value)} %`);
  return `${part(usedPercent)} used, parachute opens at ${part(threshold)} (${name})`;
}

/** Percent left before the parachute stops the node; undefined if unknown. */
export function diskRoom({ disk }: InstanceStatus): number | undefined {
  if (typeof disk !== 'object' || disk.usedPercent === undefined || disk.threshold === undefined)
    return undefined;
  return disk.isOpen ? 0 : disk.threshold - disk.usedPercent;
}

export function rpoCell({ rpo }: InstanceStatus): string {
  return rpo === undefined ? 'none' : briefly(rpo);
}

/** When each instance answered, and when those without an answer yet were asked. */
type Asking = Pick<Fleet, 'answeredAt' | 'askedAt'>;

/** The last answer may be outdated: the instance owes a newer one, or was not asked lately. */
interface Silence {
  /** Seconds since it was asked; undefined if no question is pending. */
  readonly asked: number | undefined;
  /** Seconds since it answered. */
  readonly answered: number;
}

/** An open question is mentioned after this many seconds: most answers take less than one. */
const PROMPT = 5;
/**
 * Seconds after which an answer no longer describes the present. A large fleet is asked about once a minute.
 */
const LASTS = 90;

/**
 * Whether an instance that answered before is silent now. An instance that is down is not: that is its
 * status.
 */
export function silenceOf(
  { name, down }: Pick<InstanceStatus, 'name' | 'down'>,
  { answeredAt, askedAt }: Asking,
  now: Date,
): Silence | undefined {
  const at = answeredAt?.get(name);
  if (at === undefined || down !== undefined) return undefined;
  const since = (then: Date) => (now.getTime() - then.getTime()) / 1000;
  const asking = askedAt?.get(name);
  const asked = asking && since(asking);
  const answered = since(at);
  return (asked ?? 0) >= PROMPT || answered >= LASTS ? { asked, answered } : undefined;
}

/** `asked 7s ago, not answered; its last answer is 22s old`. */
export function silenceWords({ asked, answered }: Silence): string {
  const last = `its last answer is ${briefly(answered)} old`;
  return asked === undefined ? last : `asked ${briefly(asked)} ago, not answered; ${last}`;
}
