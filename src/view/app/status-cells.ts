import { formatTime } from '../../base/format.ts';
import type { Answer, InstanceStatus, Reason } from '../fleet/fleet-status.ts';
import { briefly } from '../follow-up-words.ts';

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

/** `3h 5m`, `2d 4h LATE` where it is older than the RPO, `none`, or `?` where it is not known. */
export function backupCell(
  { parts }: InstanceStatus,
  backup: { readonly ageSeconds: number | undefined; readonly meetsRpo: boolean | undefined } | undefined,
): string {
  if (backup === undefined)
    return parts.backups.state === 'known' && parts.record.state === 'known' ? 'none' : '?';
  if (backup.ageSeconds === undefined) return '?';
  return `${briefly(backup.ageSeconds)}${backup.meetsRpo === false ? ' LATE' : ''}`;
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
  return briefly((Date.parse(window.end) - Date.parse(window.start)) / 1000);
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
