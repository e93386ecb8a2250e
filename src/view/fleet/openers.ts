import { counted, formatSpan, formatTime } from '../../base/format.ts';
import { instantOf, msOf } from '../../base/instant.ts';
import type { KeyEpoch } from '../../store/projections/key-epochs.ts';
import type { Ledger, UnopenedBackup } from '../../store/projections/ledgers.ts';
import { type InstanceFacts, knownOf } from './fleet-facts.ts';
import type { BackupStatus, ListedBackup } from './status-schema.ts';

/**
 * `proven`: read to its last byte with that key. `fits`: the key opens its first block, which is weaker.
 * `not`: opening failed. `unknown`: no evidence. `code` is stable and dotted, `why` one printable line.
 */
export type Openness =
  | { readonly how: 'proven' | 'fits'; readonly key: string }
  | {
      readonly how: 'not';
      readonly code: string;
      readonly why: string;
      /** Only the key is missing here; the service may have it and restore the backup in place. */
      readonly isKeyMissing: boolean;
    }
  | { readonly how: 'unknown'; readonly code: string; readonly why: string };

interface Opener extends BackupStatus {
  readonly openness: Extract<Openness, { readonly key: string }>;
}

/**
 * By the record and the first block. The newest evidence counts: a proof, or a later failure. `isKeyNeeded`:
 * a key that opened the backup must be held here now. Pure.
 */
export function opennessOf(facts: InstanceFacts, backup: ListedBackup, isKeyNeeded = false): Openness {
  const { proven = [], unopened = [] } = knownOf(facts.record)?.ledger ?? {};
  const failed = unopened.find((one) => isSameBackup(one, backup));
  if (failed !== undefined && stillFails(facts, failed)) return notOpened(backup, failed);
  const proof = proven.find((one) => isSameBackup(one, backup));
  const shown: Openness =
    proof === undefined ? fitOf(facts, backup) : { how: 'proven', key: proof.fingerprint };
  return isKeyNeeded && 'key' in shown ? heldOf(facts, backup, shown) : shown;
}

function heldOf({ held }: InstanceFacts, backup: ListedBackup, shown: Opener['openness']): Openness {
  const keys = knownOf(held);
  if (keys?.includes(shown.key) === true) return shown;
  if (keys !== undefined) return missing(backup, [shown.key]);
  const why = `it is not known whether key ${shown.key}, which opens backup ${backup.id}, is held here`;
  return { how: 'unknown', code: 'key.unknown', why };
}

/** `done` is newest first. See `opennessOf`. */
export function newestOpener(
  facts: InstanceFacts,
  done: readonly BackupStatus[],
  isKeyNeeded = false,
): Opener | undefined {
  for (const backup of done) {
    const openness = opennessOf(facts, backup, isKeyNeeded);
    if ('key' in openness) return { ...backup, openness };
  }
  return undefined;
}

/** `backup 2, 1 h 39 min old`. */
export function nameOf({ id, ageSeconds }: Pick<BackupStatus, 'id' | 'ageSeconds'>): string {
  return `backup ${id}, ${ageSeconds === undefined ? 'of unknown age' : `${formatSpan(ageSeconds)} old`}`;
}

/** False if keys were added since: one of them may open it. */
function stillFails({ held }: InstanceFacts, { code, tried }: UnopenedBackup): boolean {
  const keys = knownOf(held);
  return code !== WRONG_KEY || keys === undefined || keys.every((key) => tried.includes(key));
}

const WRONG_KEY = 'backup.wrong-key';

function notOpened({ id }: ListedBackup, { code, at, tried }: UnopenedBackup): Openness {
  const when = `tried ${formatTime(at)} UTC`;
  const isKeyMissing = code === WRONG_KEY;
  const what = isKeyMissing
    ? noKeyOpens(id, tried.length)
    : `backup ${id} ${WORDS[code] ?? 'could not be read to its end'}`;
  return { how: 'not', code, why: `${what} (${when})`, isKeyMissing };
}

function noKeyOpens(id: number, tried: number): string {
  return tried === 0
    ? `no key is held here that could open backup ${id}`
    : `no key held here opens backup ${id}: ${counted(tried, 'key')} tried`;
}

/** By error code. */
const WORDS: Readonly<Record<string, string>> = {
  'backup.empty': 'holds no data',
  'backup.corrupt': 'is damaged',
  'backup.truncated': 'ends early',
  'backup.trailing-data': 'is followed by other data',
  'backup.not-encrypted': 'is not encrypted',
  'backup.not-a-backup': 'is no backup',
};

function fitOf(facts: InstanceFacts, backup: ListedBackup): Openness {
  const { fits } = facts;
  const { id, downloadable } = backup;
  const found = knownOf(fits)?.find((fit) => fit.id === id);
  if (found?.key !== undefined) return { how: 'fits', key: found.key };
  if (found !== undefined)
    return { how: 'not', code: WRONG_KEY, why: noKeyOpens(id, found.tried), isKeyMissing: true };
  const { skewMs } = knownOf(facts.backups) ?? {};
  const ledger = knownOf(facts.record)?.ledger ?? { epochs: [], proven: [] };
  const keys = keysOfBackup(ledger, backup, skewMs).map(({ fingerprint }) => fingerprint);
  const held = knownOf(facts.held);
  if (keys.length > 0 && held !== undefined && !keys.some((key) => held.includes(key)))
    return missing(backup, keys);
  if (downloadable === false) {
    const why = `backup ${id} cannot be downloaded, so nothing shows that a key held here opens it`;
    return { how: 'unknown', code: 'backup.not-downloadable', why };
  }
  const why =
    fits?.state === 'failed'
      ? `backup ${id} was never opened, and no key could be tried on it: ${fits.why}`
      : `backup ${id} was never opened`;
  return { how: 'unknown', code: 'backup.unproven', why };
}

function missing({ id }: ListedBackup, keys: readonly string[]): Openness {
  const why = `the key of backup ${id} is not in the key store: ${keys.join(', ')}`;
  return { how: 'not', code: 'key.not-held', why, isKeyMissing: true };
}

/** The ledger and the service have different clocks, so near a change of keys either key may apply. */
const MARGIN_MS = 60_000;

/**
 * By the ledger: one key if the backup was opened or only one can have been in force, several if that is
 * open, none if no key is known. Keys set elsewhere without a record are missing.
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

/** By the id across instances if both have it, else by the id within the instance. */
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
  // The service refused it, so it was never in force.
  return state !== 'refuted' && isWithin(setAt, endedAt);
}
