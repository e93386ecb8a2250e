import { instantOf } from '../base/instant.ts';
import type { KeyCustody, UnknownBackup } from '../store/projections/custody.ts';
import { currentKey, type KeyEpoch } from '../store/projections/key-epochs.ts';
import type { Ledger } from '../store/projections/ledgers.ts';
import { isSameBackup } from '../view/fleet/openers.ts';
import type { ListedBackup } from '../view/fleet/status-schema.ts';
import type { KeptFit } from './try-fit.ts';

/** By NIST SP 800-57 part 1, section 7; `unknown` where the record cannot say. */
export type CustodyState =
  | 'pre-activation'
  | 'active'
  | 'deactivated'
  | 'compromised'
  | 'destroyed'
  | 'unknown';

export type BackupOfKey = Pick<ListedBackup, 'id' | 'backupId' | 'triggeredAt' | 'downloadable'> & {
  /** `verify` read it to its end with the key; `fit` its first block; `date` says only when it was made. */
  readonly by: 'verify' | 'fit' | 'date';
};

export interface KeyOfInstance {
  /** Undefined for another person's key. */
  readonly fingerprint: string | undefined;
  /** Its number in the ledger, from 1. */
  readonly epoch: number | undefined;
  readonly custody: CustodyState;
  readonly held: boolean;
  readonly known: KeyEpoch | undefined;
  readonly record: KeyCustody;
  readonly backups: readonly BackupOfKey[];
}

export interface KeysOfInstance {
  readonly ledger: Ledger;
  /** Fingerprints of the keys that the key store has. */
  readonly held: readonly string[];
  /** The done backups that the instance lists or listed last; undefined if it never could be asked. */
  readonly listed: readonly ListedBackup[] | undefined;
  readonly fits: readonly KeptFit[];
}

/**
 * The keys of an instance, oldest first: those of its ledger, those that are held without being on record,
 * and one `unknown` for the backups that no held key opens. Pure.
 */
export function keysOfInstance({
  ledger,
  held,
  listed = [],
  fits,
}: KeysOfInstance): readonly KeyOfInstance[] {
  const { epochs, custody, proven } = ledger;
  const current = currentKey(epochs)?.fingerprint;
  const names = [...new Set([...epochs.map(({ fingerprint }) => fingerprint), ...held])];
  const keyOf = (backup: ListedBackup): { key: string | undefined; by: BackupOfKey['by'] } | undefined => {
    const proof = proven.find((one) => isSameBackup(one, backup));
    if (proof !== undefined) return { key: proof.fingerprint, by: 'verify' };
    const fit = fits.find((one) => isSameBackup(one, backup));
    if (fit?.key !== undefined) return { key: fit.key, by: 'fit' };
    const isUnknown = custody?.unknown.some((one) => isSameBackup(one, backup)) === true;
    if (fit !== undefined || isUnknown || isUnopened(ledger, backup)) return { key: undefined, by: 'fit' };
    const dated = epochs.find((epoch) => wasInForce(epoch, instantOf(backup.triggeredAt)));
    return dated === undefined ? undefined : { key: dated.fingerprint, by: 'date' };
  };
  const placed = listed.map((backup) => ({ backup, ...keyOf(backup) }));
  const of = (fingerprint: string | undefined): readonly BackupOfKey[] =>
    placed.flatMap(({ backup, key, by }) => {
      const { id, backupId, triggeredAt, downloadable } = backup;
      return by !== undefined && key === fingerprint ? [{ id, backupId, triggeredAt, downloadable, by }] : [];
    });
  const keys = names.map((fingerprint): KeyOfInstance => {
    const at = epochs.findIndex((one) => one.fingerprint === fingerprint);
    const known = epochs[at];
    const record = custody?.keys[fingerprint] ?? {};
    return {
      fingerprint,
      epoch: at === -1 ? undefined : at + 1,
      custody: stateOf(known, record, current),
      held: held.includes(fingerprint),
      known,
      record,
      backups: of(fingerprint),
    };
  });
  const foreign = of(undefined);
  const unlisted = (custody?.unknown ?? []).filter(
    (one) => !placed.some(({ backup }) => isSameBackup(one, backup)),
  );
  if (foreign.length === 0 && unlisted.length === 0) return keys;
  const backups = [...foreign, ...unlisted.map(asBackup)];
  const unknown: KeyOfInstance = {
    ...{ fingerprint: undefined, epoch: undefined, custody: 'unknown', held: false, known: undefined },
    ...{ record: {}, backups },
  };
  return [...keys, unknown];
}

function asBackup({ id, backupId, triggeredAt }: UnknownBackup): BackupOfKey {
  return { id, backupId, triggeredAt, downloadable: undefined, by: 'fit' };
}

function stateOf(
  known: KeyEpoch | undefined,
  { destroyed, retired }: KeyCustody,
  current: string | undefined,
): CustodyState {
  if (destroyed !== undefined) return 'destroyed';
  if (retired?.compromised === true) return 'compromised';
  if (known === undefined) return 'unknown';
  if (known.fingerprint === current) return 'active';
  if (known.endedAt !== undefined) return 'deactivated';
  if (known.state === 'pending') return 'pre-activation';
  return 'unknown';
}

/** Only a wrong key says that another one was set: an empty or damaged backup says nothing of keys. */
function isUnopened({ unopened = [] }: Ledger, backup: ListedBackup): boolean {
  return unopened.some((one) => one.code === 'backup.wrong-key' && isSameBackup(one, backup));
}

function wasInForce({ setAt, endedAt, earlier }: KeyEpoch, at: number | undefined): boolean {
  if (at === undefined) return false;
  const isIn = (from: string, to: string | undefined) =>
    (instantOf(from) ?? Infinity) <= at && at < (to === undefined ? Infinity : (instantOf(to) ?? Infinity));
  return (
    (setAt !== undefined && isIn(setAt, endedAt)) ||
    earlier.some((period) => isIn(period.setAt, period.endedAt))
  );
}
