import type { Backup, Restore } from '../service/schemas.ts';
import { show } from '../text.ts';
import type { InDoubt } from './activity.ts';
import { instantOf, isSameInstant } from './clocks.ts';
import type { Fit, Telling } from './doubt.ts';

/** Times are told with and without fractions of a second. */
const ROUNDING_MS = 1_000;

/** Tells a restore of one of the instance's own backups (service-api.md endpoint 7) by the backup's id. */
export function restoreOfBackup(backup: number): Telling<Restore> {
  return telling(({ backup_id }) => {
    if (backup_id === undefined) return { is: 'untold', why: 'which backup it restores is not told' };
    if (backup_id === backup) return { is: 'ours', why: `it restores backup ${backup}` };
    return { is: 'other', why: `it restores backup ${backup_id}, not ${backup}` };
  });
}

/** What is known of the backup that a recovery takes, by the clock of the service: from when its data is. */
export interface ExpectedBackup {
  readonly triggeredAt?: string | undefined;
  readonly startedAt?: string | undefined;
  readonly finishedAt?: string | undefined;
  /** The newest backup is recovered, and this is the newest that is known: it may be from then or from later. */
  readonly orNewer?: boolean | undefined;
}

/**
 * Tells a disaster recovery (endpoint 11). The id in it is that of a backup of another instance, which nothing here can be compared
 * with. Where the times of that backup are known, a restore from another time is a colleague's recovery of something else. Without
 * them any new restore is taken for ours unless it looks like one of the target's own backups.
 */
export function recoveryFromElsewhere(
  ownBackups: readonly Backup[],
  lost: InDoubt['lost'],
  expected: ExpectedBackup = {},
): Telling<Restore> {
  return telling((restore) => {
    // Revision 61 says so when somebody else's recovery runs, and then the one that is listed is theirs.
    if (lost?.code === 'service.conflict')
      return { is: 'doubtful', why: 'the service answered that a restore was under way already' };
    const unexpected = against(expected, restore);
    if (unexpected !== undefined) return unexpected;
    const { backup_id } = restore;
    const own = ownBackups.filter(({ id }) => backup_id === undefined || id === backup_id);
    if (own.length === 0) return { is: 'ours', why: 'it restores no backup of this instance' };
    const from = instantOf(restore.metadata?.restored_from);
    if (from === undefined) return { is: 'untold', why: 'from when the restored backup is is not told' };
    const twin = own.find((backup) => wasMadeAt(backup, from));
    if (twin === undefined) return { is: 'ours', why: 'no backup of this instance is from that time' };
    return { is: 'doubtful', why: `it looks like a restore of the instance's own backup ${twin.id}` };
  });
}

/** What speaks against a restore's being of the expected backup; nothing when it is from its time, or no time was expected. */
function against(
  { triggeredAt, startedAt, finishedAt, orNewer = false }: ExpectedBackup,
  { metadata }: Restore,
): Fit | undefined {
  const times = [triggeredAt, startedAt, finishedAt].map(instantOf).filter((time) => time !== undefined);
  if (times.length === 0) return undefined;
  const from = instantOf(metadata?.restored_from);
  if (from === undefined) return { is: 'untold', why: 'from when the restored backup is is not told' };
  // Which moment of a backup its "creation date" is is not said: any between its first and its last.
  const begun = Math.min(...times) - ROUNDING_MS;
  const ended = Math.max(...times) + ROUNDING_MS;
  if (from >= begun && (orNewer || from <= ended)) return undefined;
  return { is: 'unlikely', why: 'it restores data of another time than that of the chosen backup' };
}

/**
 * Tells a restore to a point in time (endpoint 18) by `restored_from`, which is the chosen time. Where it is another time it may still be
 * that of the backup that was used (section 2.2 allows both).
 */
export function restoreToInstant(targetTime: string): Telling<Restore> {
  const target = instantOf(targetTime);
  return telling((restore) => {
    const from = instantOf(restore.metadata?.restored_from);
    if (from === undefined || target === undefined)
      return { is: 'untold', why: 'the time that it restores to is not told' };
    if (isSameInstant(from, target)) return { is: 'ours', why: 'it restores to the time that was asked for' };
    return { is: 'unlikely', why: 'it restores to another time than was asked for' };
  });
}

function telling(fit: (restore: Restore) => Fit): Telling<Restore> {
  return {
    what: 'restore',
    anyServes: false,
    fit,
    details: ({ backup_id, metadata }) => ({
      backup: backup_id ?? null,
      restoredFrom: metadata?.restored_from === undefined ? null : show(metadata.restored_from, 40),
    }),
  };
}

/** Which of its times is meant by "creation date" is not said, and one that tells none can be from any time. */
function wasMadeAt({ triggered_at, started_at, finished_at }: Backup, ms: number): boolean {
  const times = [triggered_at, started_at, finished_at].map(instantOf).filter((time) => time !== undefined);
  return times.length === 0 || times.some((time) => isSameInstant(time, ms));
}
