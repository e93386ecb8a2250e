import type { ExpectedOrigin } from '../../machines/parts/recovery-data.ts';
import type { Failure } from '../base/failure.ts';
import { instantOf } from '../base/instant.ts';
import { show } from '../base/text.ts';
import type { Keyring } from '../keys/key-store.ts';
import type { Backup, Restore } from '../service/schemas.ts';
import type { InDoubt } from './activity.ts';
import { isSameInstant } from './clocks.ts';
import { type Fit, type Telling, wasPlainlyAccepted } from './evaluate-tasks.ts';

/** Times come with and without fractions of a second. */
const ROUNDING_MS = 1_000;

/** Service-api.md endpoint 7: an own backup is recognized by its id, if known. */
export function restoreOfBackup(backup: number | undefined): Telling<Restore> {
  return telling(({ backup_id }) => {
    if (backup === undefined) return { is: 'doubtful', why: 'which backup was to be restored is lost' };
    if (backup_id === undefined) return { is: 'unreported', why: 'which backup it restores is not reported' };
    if (backup_id === backup) return { is: 'ours', why: `it restores backup ${backup}` };
    return { is: 'other', why: `it restores backup ${backup_id}, not ${backup}` };
  });
}

/**
 * Endpoint 11. The id is that of another instance's backup, which cannot be compared with anything here. If
 * the times of that backup are known, a restore from another time is a colleague's recovery of something
 * else. Without them all recoveries look alike, so none is taken for ours unless the service is known to have
 * accepted our request.
 */
export function recoveryFromElsewhere(
  ownBackups: readonly Backup[],
  lost: InDoubt['lost'],
  expected: ExpectedOrigin = {},
): Telling<Restore> {
  return telling((restore) => {
    // Revision 61 says so while someone else's recovery runs; then the listed one is theirs.
    if (lost?.code === 'service.conflict')
      return { is: 'doubtful', why: 'the service answered that a restore was under way already' };
    const unexpected = against(expected, restore);
    if (unexpected !== undefined) return unexpected;
    const { backup_id } = restore;
    const own = ownBackups.filter(({ id }) => backup_id === undefined || id === backup_id);
    if (own.length === 0) return fromElsewhere(expected, lost, 'it restores no backup of this instance');
    const from = instantOf(restore.metadata?.restored_from);
    if (from === undefined)
      return { is: 'unreported', why: 'the time of the restored backup is not reported' };
    const twin = own.find((backup) => wasMadeAt(backup, from));
    if (twin === undefined)
      return fromElsewhere(expected, lost, 'no backup of this instance is from that time');
    return { is: 'doubtful', why: `it looks like a restore of the instance's own backup ${twin.id}` };
  });
}

/** Ours only if its backup is known, or ours is known to have begun. */
function fromElsewhere(expected: ExpectedOrigin, lost: InDoubt['lost'], why: string): Fit {
  if (timesOf(expected).length > 0 || wasPlainlyAccepted(lost)) return { is: 'ours', why };
  return { is: 'doubtful', why: `${why}, and the time of the one that was asked for has not been reported` };
}

function timesOf({ triggeredAt, startedAt, finishedAt }: ExpectedOrigin): number[] {
  return [triggeredAt, startedAt, finishedAt].map(instantOf).filter((time) => time !== undefined);
}

/** Undefined if no time was expected. */
function against(expected: ExpectedOrigin, { metadata }: Restore): Fit | undefined {
  const { orNewer = false } = expected;
  const times = timesOf(expected);
  if (times.length === 0) return undefined;
  const from = instantOf(metadata?.restored_from);
  if (from === undefined) return { is: 'unreported', why: 'the time of the restored backup is not reported' };
  // Which moment of a backup "creation date" means is undocumented: any from its first to its last.
  const begun = Math.min(...times) - ROUNDING_MS;
  const ended = Math.max(...times) + ROUNDING_MS;
  if (from >= begun && (orNewer || from <= ended)) return undefined;
  return { is: 'unlikely', why: 'it restores data from a time other than that of the chosen backup' };
}

/**
 * Endpoint 18: `restored_from` is the chosen time. Another time may still be that of the backup used, the
 * closest one before it (sections 2.2 and 4.1 rule 4); but a restore of just that backup looks the same. So
 * `ownBackups` is given only if the service is known to have accepted our request and shows only one new
 * restore.
 */
export function restoreToInstant(targetTime: string, ownBackups: readonly Backup[] = []): Telling<Restore> {
  const target = instantOf(targetTime);
  const base = target === undefined ? undefined : newestUntil(ownBackups, target);
  return telling((restore) => {
    const from = instantOf(restore.metadata?.restored_from);
    if (from === undefined || target === undefined)
      return { is: 'unreported', why: 'the time that it restores to is not reported' };
    if (isSameInstant(from, target)) return { is: 'ours', why: 'it restores to the time that was asked for' };
    if (base !== undefined && tellsTime(base, from))
      return { is: 'ours', why: `it begins with backup ${base.id}, the newest one before that time` };
    return { is: 'unlikely', why: 'it restores to a time other than the one asked for' };
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

/** Any of its times may be the "creation date"; a backup without times may be from any time. */
function wasMadeAt(backup: Backup, ms: number): boolean {
  return tellsTime(backup, ms) || momentsOf(backup).length === 0;
}

function tellsTime(backup: Backup, ms: number): boolean {
  return momentsOf(backup).some((time) => isSameInstant(time, ms));
}

function newestUntil(backups: readonly Backup[], ms: number): Backup | undefined {
  const end = (backup: Backup) => Math.max(...momentsOf(backup));
  return backups
    .filter((backup) => backup.status.toLowerCase() === 'done' && end(backup) <= ms)
    .toSorted((one, other) => end(other) - end(one))[0];
}

function momentsOf({ triggered_at, started_at, finished_at }: Backup): number[] {
  return [triggered_at, started_at, finished_at].map(instantOf).filter((time) => time !== undefined);
}

/**
 * Undefined if a key of the instance is held here. Without one the backup could not be opened: the service
 * never returns a key, and accepts one only for future backups. Rejects with the key store's errors.
 */
export async function lackOfKey(keyring: Keyring, instance: string): Promise<Failure | undefined> {
  if ((await keyring.list(instance)).length > 0) return undefined;
  const name = show(instance, 80);
  return {
    code: 'backup.no-key',
    shortMessage: `no key of ${name} is held in ${keyring.store.description}: its backup could not be opened`,
    hints: [
      `if ${name} has a key, store it: lifeboat keys add ${name}`,
      `if it has none, set one first: lifeboat backup-config set --instance ${name} --new-key`,
      'beside an open run, add --anyway REASON to it; no backup was asked for',
    ],
    evidence: {},
  };
}
