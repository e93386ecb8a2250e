import { instantOf, msOf } from '../../base/instant.ts';
import type { KeyEpoch } from '../../store/projections/key-epochs.ts';
import type { Ledger } from '../../store/projections/ledgers.ts';
import type { ListedBackup } from './status-schema.ts';

/** A backup near the change of a key may be under either; the ledger's clock and the service's are two. */
const MARGIN_MS = 60_000;

/**
 * The keys that a backup may be encrypted with, as far as the ledger knows: one where it was opened or where
 * only one can have been in force, several where the ledger leaves it open, none where it names no key. A key
 * that was set elsewhere and never reported is not among them.
 */
export function keysOfBackup(
  { epochs, proven }: Pick<Ledger, 'epochs' | 'proven'>,
  backup: ListedBackup,
  skewMs = 0,
): readonly KeyEpoch[] {
  const proof = proven.find((one) => isSameBackup(one, backup));
  const opened = epochs.filter(({ fingerprint }) => fingerprint === proof?.fingerprint);
  if (opened.length > 0) return opened;
  const at = instantOf(backup.triggeredAt);
  return epochs.filter((epoch) => at === undefined || mayBeInForce(epoch, at - skewMs));
}

/** The same backup: by the id across instances where both have it, else by the id inside the instance. */
export function isSameBackup(
  one: { readonly id: number; readonly backupId?: string | undefined },
  other: { readonly id: number; readonly backupId?: string | undefined },
): boolean {
  if (one.backupId !== undefined && other.backupId !== undefined) return one.backupId === other.backupId;
  return one.id === other.id;
}

function mayBeInForce({ state, setAt, endedAt, earlier }: KeyEpoch, atMs: number): boolean {
  const isWithin = (from: string | undefined, until: string | undefined) =>
    (from === undefined || msOf(from) - MARGIN_MS <= atMs) &&
    (until === undefined || atMs <= msOf(until) + MARGIN_MS);
  if (earlier.some((period) => isWithin(period.setAt, period.endedAt))) return true;
  // A key that the service did not take was never in force.
  return state !== 'refuted' && isWithin(setAt, endedAt);
}
