import { formatTime } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import type { Answer, BackupStatus, InstanceStatus, Reason } from '../fleet/status-schema.ts';
import { briefly } from '../follow-up-words.ts';
import { type Asking, silenceOf } from './silence.ts';
import type { Fleet } from './sources.ts';

/**
 * The state of an instance in the words of a table, for every renderer. `?` stands for what is not known.
 */

/** An answer in a word; the one that needs somebody is in capitals. */
export const ANSWER_WORDS: Readonly<Record<Answer, string>> = {
  yes: 'yes',
  no: 'NO',
  unknown: 'unknown',
  empty: 'target',
};

/**
 * Whether applications can work with it now: `yes`, `NO`, `DOWN` where it does not answer, `NOT FOUND` where
 * its address knows no such instance, or `?`.
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

/** Whether what could be brought back keeps the RPO: `yes`, `NO`, `?`, or `none` where no RPO is set. */
export function objectivesCell({ objectives }: Pick<InstanceStatus, 'objectives'>): string {
  if (objectives === undefined) return 'none';
  return objectives.answer === 'unknown' ? '?' : ANSWER_WORDS[objectives.answer];
}

/** The backup that a recovery would take: `backup 7, 2h old, proven`; `fits` is weaker than a proof. */
export function openerWords({ opener }: Pick<InstanceStatus, 'opener'>): string | undefined {
  if (opener === undefined) return undefined;
  const { id, ageSeconds, how, key } = opener;
  const age = ageSeconds === undefined ? 'of unknown age' : `${briefly(ageSeconds)} old`;
  return `backup ${id}, ${age}, ${how === 'proven' ? `proven with key ${key}` : `key ${key} fits`}`;
}

/** Since when it is not there: `DOWN (last seen 5m ago, 2026-03-10 11:55:00 UTC): connection refused`. */
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

/** In place of an age: by how much a time of the service lies in its own future. */
export function futureCell(aheadSeconds: number): string {
  return `FUTURE ${briefly(aheadSeconds)}`;
}

/** `3h 5m`, `2d 4h LATE` where it is older than the RPO, `none`, or `?` where it is not known. */
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

/** The same of the newest backup, or `3h 5m seen` of the one that was seen last. */
export function newestCell(status: InstanceStatus): string {
  const { newestBackup, lastSeenBackup: seen } = status;
  if (newestBackup !== undefined || seen?.ageSeconds === undefined) return backupCell(status, newestBackup);
  return `${briefly(seen.ageSeconds)} seen`;
}

/** The newest backup that was seen last, and when: `2d 4h old as last seen 3h ago (backup 9)`. */
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

/** The age of the recovery card. */
export function cardCell(status: InstanceStatus): string {
  return status.card === undefined ? journalCell(status) : briefly(status.card.ageSeconds);
}

/** How long ago a proven run last recovered it. */
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

/** What a reason stands in the way of, where that is not both: `in place` or `elsewhere`. */
export function wayOf({ inPlace, elsewhere }: InstanceStatus, { code }: Reason): string {
  const here = inPlace.reasons.some((reason) => reason.code === code);
  const there = elsewhere.reasons.some((reason) => reason.code === code);
  return here && there ? '' : here ? 'in place' : 'elsewhere';
}

/** What stands in nobody's way now and should not stay so, one line each. */
export function notesOf({ cautions, provenBackup }: InstanceStatus): readonly string[] {
  if (provenBackup?.isListed !== false) return cautions;
  const { id, provenAt } = provenBackup;
  return [...cautions, `backup ${id}, proven ${formatTime(provenAt)} UTC, is gone`];
}

function journalCell({ parts }: InstanceStatus): string {
  return parts.record.state === 'known' ? 'none' : '?';
}

/** What the rows of the board are sorted by. */
export type BoardSort = 'danger' | 'name' | 'newest backup' | 'RPO';

export const BOARD_SORTS: readonly BoardSort[] = ['danger', 'name', 'newest backup', 'RPO'];

/**
 * The instances in an order: the most endangered, the first by name, the one with the oldest newest backup,
 * or the one furthest over its RPO first. What is equal stays in the order of the config.
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

/** What to do about one that is not found. */
export const NOT_FOUND_NEXT =
  'its address answers: compare its url in the config with `cf service NAME` before you call it lost';

const WEIGHTS: Readonly<Record<Exclude<BoardSort, 'name'>, (status: InstanceStatus) => number>> = {
  danger: dangerOf,
  'newest backup': ({ newestBackup }) => newestBackup?.ageSeconds ?? Number.MAX_VALUE,
  RPO: ({ rpo, newestBackup }) =>
    rpo === undefined ? -Number.MAX_VALUE : (newestBackup?.ageSeconds ?? Number.MAX_VALUE) / rpo,
};

/**
 * What is down comes before all else: people wait for it now; then what its address does not know.
 * Applications that are locked out, or a node that is stopped, count as much as an instance that could not be
 * recovered.
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

/** How many instances there are of each kind; one counts where it is worst, in this order. */
export interface FleetCounts {
  /** It does not answer. */
  readonly down: number;
  /** Its address knows no such instance. */
  readonly notFound: number;
  /** It could not be recovered now. */
  readonly no: number;
  /** Applications cannot work with it. */
  readonly outOfService: number;
  /** It has answered before, and owes an answer now (`silenceOf`). */
  readonly silent: number;
  /** Nothing shows that it could be recovered now. */
  readonly unknown: number;
  /** What could be brought back is older than its RPO, or of unknown age. */
  readonly beyondRpo: number;
  readonly good: number;
  /** It has not answered since the asking began, so nothing is said of it. */
  readonly waiting: number;
}

/** Counts the instances; a target that holds nothing of its own counts for nothing. */
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

/** Whether it is a target of which nobody knows yet if it holds anything. */
export function isOpenTarget(
  { name, role }: Pick<InstanceStatus, 'name' | 'role'>,
  answeredAt: Fleet['answeredAt'],
): boolean {
  return role === 'target' && answeredAt?.has(name) !== true;
}

/** The disk that is nearest to its parachute: `41/90 %`, `OPEN` where the node is stopped, `none`, or `?`. */
export function diskCell({ disk }: InstanceStatus): string {
  if (disk === undefined) return '?';
  if (disk === 'none') return 'none';
  if (disk.isOpen) return 'OPEN';
  const part = (value: number | undefined) => (value === undefined ? '?' : String(Math.round(value)));
  return `${part(disk.usedPercent)}/${part(disk.threshold)} %`;
}

/** The same in a sentence, with the node and the disk. */
export function diskWords(status: InstanceStatus): string {
  const { disk } = status;
  if (typeof disk !== 'object') return diskCell(status);
  const { usedPercent, threshold, name, isOpen } = disk;
  if (isOpen) return `its parachute is OPEN, the node is stopped (${name})`;
  const part = (value: number | undefined) => (value === undefined ? '? %' : `${Math.round(value)} %`);
  return `${part(usedPercent)} used, parachute opens at ${part(threshold)} (${name})`;
}

/** Percent left until the parachute opens; undefined where that is not known. */
export function diskRoom({ disk }: InstanceStatus): number | undefined {
  if (typeof disk !== 'object' || disk.usedPercent === undefined || disk.threshold === undefined)
    return undefined;
  return disk.isOpen ? 0 : disk.threshold - disk.usedPercent;
}

/** The RPO in few characters, or `none`. */
export function rpoCell({ rpo }: InstanceStatus): string {
  return rpo === undefined ? 'none' : briefly(rpo);
}
