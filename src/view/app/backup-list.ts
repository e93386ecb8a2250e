import { futureSeconds, instantOf } from '../../base/instant.ts';
import type { Ledger } from '../../store/projections/ledgers.ts';
import { isSameBackup, keysOfBackup } from '../fleet/openers.ts';

/** Times RFC 3339, by the service's clock. */
export interface BackupRow {
  readonly id: number;
  /** Known to other instances too; without it, the backup can only be restored in place. */
  readonly backupId?: string | undefined;
  /** The service's word. If it gives no list: `on record` (by the journal) or `seen` (listed last). */
  readonly status: string;
  readonly triggeredAt?: string | undefined;
  readonly ageSeconds?: number | undefined;
  /** Instead of an age: how far its time lies ahead of the service's clock. */
  readonly aheadSeconds?: number | undefined;
  /** Bytes. */
  readonly size?: number | undefined;
  /** When it was opened with a key and read to its last byte, if that is on record. */
  readonly provenAt?: string | undefined;
  /** The keys that may open it, and whether the key store has each. */
  readonly keys: readonly { readonly fingerprint: string; readonly isHeld: boolean | undefined }[];
}

/** Newest first. */
export interface BackupList {
  readonly rows: readonly BackupRow[];
  /** Rows that could not be read, in words. */
  readonly unread?: readonly string[] | undefined;
  /** Why the service gives no list; the rows then come from the journal, or were seen earlier. */
  readonly problem?: string | undefined;
  /** The range of a point-in-time restore, RFC 3339; undefined if there is none. */
  readonly window?: { readonly earliest: string; readonly latest: string } | undefined;
  /** Why there is no window. */
  readonly noWindow?: string | undefined;
}

/** A backup as the service lists it, in any state. */
export type Listed = Omit<BackupRow, 'ageSeconds' | 'aheadSeconds' | 'provenAt' | 'keys'>;

export interface KnownBackups {
  /** Undefined if the service gave none. */
  readonly listed: readonly Listed[] | undefined;
  /** Used if there is no list now. */
  readonly seen?: readonly Omit<Listed, 'status'>[] | undefined;
  readonly ledger: Pick<Ledger, 'epochs' | 'proven'>;
  /** Fingerprints in the key store; undefined if it was not opened. */
  readonly held: readonly string[] | undefined;
  /** How far the service's clock is ahead of ours. Milliseconds. */
  readonly skewMs: number;
  readonly now: Date;
}

/** Each backup with its age, proof and keys. Pure. */
export function backupRows(all: KnownBackups): readonly BackupRow[] {
  const { listed, ledger, held, skewMs, now } = all;
  const known = listed ?? withoutList(all);
  const timeOf = (one: Listed) => instantOf(one.triggeredAt) ?? 0;
  return known
    .toSorted((one, other) => timeOf(other) - timeOf(one) || other.id - one.id)
    .map(({ id, backupId, status, triggeredAt, size }) => {
      return {
        id,
        backupId,
        status,
        triggeredAt,
        size,
        ...ageOf(triggeredAt, now.getTime() + skewMs),
        provenAt: ledger.proven.find((proof) => isSameBackup(proof, { id, backupId }))?.provenAt,
        keys: keysOfBackup(ledger, { id, backupId, triggeredAt }, skewMs).map(({ fingerprint }) => ({
          fingerprint,
          isHeld: held?.includes(fingerprint),
        })),
      };
    });
}

function ageOf(at: string | undefined, clockMs: number): Pick<BackupRow, 'ageSeconds' | 'aheadSeconds'> {
  const instant = instantOf(at);
  if (instant === undefined) return {};
  const aheadSeconds = futureSeconds(at, clockMs);
  return aheadSeconds === undefined
    ? { ageSeconds: Math.max(0, (clockMs - instant) / 1000) }
    : { aheadSeconds };
}

const ON_RECORD = 'on record';
const SEEN = 'seen';

function withoutList({ ledger: { proven }, seen = [] }: KnownBackups): readonly Listed[] {
  const others = seen.filter((one) => !proven.some((proof) => isSameBackup(proof, one)));
  return [
    ...proven.map((proof) => ({ ...proof, status: ON_RECORD })),
    ...others.map((one) => ({ ...one, status: SEEN })),
  ];
}

export function isDone({ status }: Pick<BackupRow, 'status'>): boolean {
  return status === 'done' || status === ON_RECORD || status === SEEN;
}

/** Why a backup cannot be restored; `elsewhere`: into another instance. Undefined if it can. */
export function whyNotRestorable(row: BackupRow, elsewhere: boolean): string | undefined {
  const { status, backupId } = row;
  if (elsewhere && backupId === undefined)
    return 'the service gives it no id that other instances know: only the newest can be recovered elsewhere';
  if (isDone(row)) return undefined;
  return status === 'queued' || status === 'running'
    ? `it is ${status}: only a backup that is done can be restored; press Ctrl-R when it is`
    : `it is ${status}: only a backup that is done can be restored`;
}
