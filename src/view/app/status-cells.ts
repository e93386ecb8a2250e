import { formatTime } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import { show } from '../../base/text.ts';
import { countsAgainst } from '../../plans/evaluate.ts';
import type { Check, InstanceVerdict } from '../../plans/evaluation-schema.ts';
import type { Answer, BackupStatus, InstanceStatus } from '../fleet/status-schema.ts';
import { briefly } from '../follow-up-words.ts';
import type { FleetRow } from './fleet-row.ts';
import type { Fleet } from './sources.ts';

/** An instance in table cells, for every renderer. `?` means unknown. */

/** For every screen and table. */
export const VERDICT_WORDS: Readonly<Record<InstanceVerdict, string>> = {
  proven: 'PROVEN',
  ready: 'READY',
  'not-ready': 'NOT READY',
  unknown: 'UNKNOWN',
  empty: 'empty',
};

/** Checks that count against it, red ones first, each reason once. */
export function checksAgainst({ evaluation }: Pick<InstanceStatus, 'evaluation'>): readonly Check[] {
  const all = evaluation.checks.filter(countsAgainst);
  const once = all.filter(({ reason }, at) => all.findIndex((one) => one.reason === reason) === at);
  return once.toSorted((one, other) => Number(other.state === 'red') - Number(one.state === 'red'));
}

/** Checks that are not green but do not count: waived ones, and waivers that are over. */
export function checksBeside({ evaluation }: Pick<InstanceStatus, 'evaluation'>): readonly Check[] {
  return evaluation.checks.filter(
    (check) =>
      (check.state === 'red' || check.state === 'unknown') &&
      !countsAgainst(check) &&
      check.id !== 'restored',
  );
}

/** `waived until 2026-04-01 00:00:00 UTC: REASON`. */
export function waiverWords({ waiver }: Check): string {
  if (waiver === undefined) return 'to be seen to';
  const { until, reason, owner } = waiver;
  const by = owner === undefined ? '' : ` by ${show(owner, 80)}`;
  return `waived${by} until ${formatTime(until)} UTC: ${show(reason, 120)}`;
}

/** For applications: `yes`, `NO`, `DOWN` (no answer), `NOT FOUND` (unknown at its address) or `?`. */
export function serviceCell({
  down,
  notFound,
  inService,
}: Pick<InstanceStatus, 'down' | 'notFound' | 'inService'>): string {
  if (down !== undefined) return 'DOWN';
  if (notFound !== undefined) return 'NOT FOUND';
  return SERVICE_WORDS[inService.answer];
}

const SERVICE_WORDS: Readonly<Record<Answer, string>> = { yes: 'yes', no: 'NO', unknown: '?', empty: 'yes' };

/** `backup 7, 2h old, proven`, the backup that a recovery would take; `fits` is weaker than `proven`. */
export function openerWords({ opener }: Pick<InstanceStatus, 'opener'>): string | undefined {
  if (opener === undefined) return undefined;
  const { id, ageSeconds, how, key } = opener;
  const age = ageSeconds === undefined ? 'of unknown age' : `${briefly(ageSeconds)} old`;
  return `backup ${id}, ${age}, ${how === 'proven' ? `proven with key ${key}` : `key ${key} fits`}`;
}

/** `DOWN (last seen 5m ago, 2026-03-10 11:55:00 UTC): connection refused`. */
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

/** In place of an age, if the service's time is ahead of its own clock. */
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

/** Of the newest backup, or `3h 5m seen` for the last one that was seen. */
export function newestCell(status: InstanceStatus): string {
  const { newestBackup, lastSeenBackup: seen } = status;
  if (newestBackup !== undefined || seen?.ageSeconds === undefined) return backupCell(status, newestBackup);
  return `${briefly(seen.ageSeconds)} seen`;
}

/** `2d 4h old as last seen 3h ago (backup 9)`. */
export function seenWords({ lastSeenBackup }: Pick<InstanceStatus, 'lastSeenBackup'>): string | undefined {
  if (lastSeenBackup === undefined) return undefined;
  const { id, ageSeconds, seenAgeSeconds } = lastSeenBackup;
  const age = ageSeconds === undefined ? 'of unknown age' : `${briefly(ageSeconds)} old`;
  return `${age} as last seen ${briefly(seenAgeSeconds)} ago (backup ${id})`;
}

/** The key of the newest backup: `proven`, `held`, `MISSING`. */
export function keyCell({ key: { possible, isProven } }: InstanceStatus): string {
  if (possible.length === 0) return '?';
  if (possible.some(({ isHeld }) => isHeld === false)) return 'MISSING';
  if (possible.some(({ isHeld }) => isHeld === undefined)) return '?';
  return isProven ? 'proven' : 'held';
}

export function cardCell(status: InstanceStatus): string {
  return status.card === undefined ? journalCell(status) : briefly(status.card.ageSeconds);
}

/** Since the last proven run that recovered it. */
export function recoveredCell(status: InstanceStatus): string {
  return status.recovered === undefined ? journalCell(status) : briefly(status.recovered.ageSeconds);
}

/** The length of the point-in-time range. */
export function windowCell({ window, parts }: InstanceStatus): string {
  if (window === 'none' || parts.window.state === 'missing') return 'none';
  if (window === undefined) return '?';
  return briefly((msOf(window.end) - msOf(window.start)) / 1000);
}

/** `0`, `2`, `3, 1 late`. */
export function followUpCell({ followUps }: InstanceStatus): string {
  if (followUps === undefined) return '?';
  const { open, overdue } = followUps;
  return overdue === 0 ? String(open) : `${open}, ${overdue} late`;
}

/** One line each; they do not prevent a recovery. */
export function notesOf({ cautions, provenBackup }: InstanceStatus): readonly string[] {
  if (provenBackup?.isListed !== false) return cautions;
  const { id, provenAt } = provenBackup;
  return [...cautions, `backup ${id}, proven ${formatTime(provenAt)} UTC, is gone`];
}

function journalCell({ parts }: InstanceStatus): string {
  return parts.record.state === 'known' ? 'none' : '?';
}

export const NOT_FOUND_NEXT =
  'its address answers: compare its url in the config with `cf service NAME` before you call it lost';

/** Each instance counts once, as the first kind in this order that applies. */
export interface FleetCounts {
  readonly down: number;
  /** Unknown at its address. */
  readonly notFound: number;
  readonly notReady: number;
  readonly outOfService: number;
  /** It answered before, and its next answer is late (`silenceOf`). */
  readonly silent: number;
  readonly unknown: number;
  readonly ready: number;
  readonly proven: number;
  /** No answer since the survey began. */
  readonly waiting: number;
}

/** An empty target is not counted. */
export function fleetCounts(
  { instances, ...asking }: Pick<Fleet, 'instances'> & Asking,
  now: Date,
): FleetCounts {
  const counts = {
    down: 0,
    notFound: 0,
    notReady: 0,
    outOfService: 0,
    silent: 0,
    unknown: 0,
    ready: 0,
    proven: 0,
    waiting: 0,
  };
  for (const row of instances) {
    const kind = kindOf(row, asking, now);
    if (kind !== undefined) counts[kind] += 1;
  }
  return counts;
}

function kindOf(row: FleetRow, asking: Asking, now: Date): keyof FleetCounts | undefined {
  const { name, verdict, service, isDown, notFound } = row;
  if (asking.answeredAt?.has(name) !== true) return 'waiting';
  if (verdict === 'empty') return undefined;
  if (isDown) return 'down';
  if (notFound !== undefined) return 'notFound';
  if (verdict === 'not-ready') return 'notReady';
  if (service === 'no') return 'outOfService';
  if (silenceOf({ name }, asking, now) !== undefined) return 'silent';
  return verdict;
}

/** A target that may hold data: it has not answered yet. */
export function isOpenTarget(
  { name, role }: Pick<InstanceStatus, 'name' | 'role'>,
  answeredAt: Fleet['answeredAt'],
): boolean {
  return role === 'target' && answeredAt?.has(name) !== true;
}

/** The disk nearest to its parachute size: `41/90 %`, `OPEN` for a stopped node, `none`, or `?`. */
export function diskCell({ disk }: InstanceStatus): string {
  if (disk === undefined) return '?';
  if (disk === 'none') return 'none';
  if (disk.isOpen) return 'OPEN';
  const part = (value: number | undefined) => (value === undefined ? '?' : String(Math.round(value)));
  return `${part(disk.usedPercent)}/${part(disk.threshold)} %`;
}

/** With node and disk. */
export function diskWords(status: InstanceStatus): string {
  const { disk } = status;
  if (typeof disk !== 'object') return diskCell(status);
  const { usedPercent, threshold, name, isOpen } = disk;
  if (isOpen) return `its parachute is OPEN, the node is stopped (${name})`;
  const part = (value: number | undefined) => (value === undefined ? '? %' : `${Math.round(value)} %`);
  return `${part(usedPercent)} used, parachute opens at ${part(threshold)} (${name})`;
}

/** Percent left before the parachute opens; undefined if unknown. */
export function diskRoom({ disk }: InstanceStatus): number | undefined {
  if (typeof disk !== 'object' || disk.usedPercent === undefined || disk.threshold === undefined)
    return undefined;
  return disk.isOpen ? 0 : disk.threshold - disk.usedPercent;
}

export function rpoCell({ rpo }: InstanceStatus): string {
  return rpo === undefined ? 'none' : briefly(rpo);
}

type Asking = Pick<Fleet, 'answeredAt' | 'askedAt'>;

/** The last answer may be outdated. */
interface Silence {
  /** Seconds; undefined if no question is pending. */
  readonly asked: number | undefined;
  /** Seconds. */
  readonly answered: number;
}

/** Most answers take less than one second. */
const PROMPT = 5;
/** Seconds that an answer describes the present; a large fleet is asked about once a minute. */
const LASTS = 90;

/** For an instance that answered before. A down one is not silent: its status is down. */
export function silenceOf(
  { name, down }: Pick<InstanceStatus, 'name'> & Partial<Pick<InstanceStatus, 'down'>>,
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
