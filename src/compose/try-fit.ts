import type { LastSeen } from '../../machines/parts/recovery-data.ts';
import { PROBE_BYTES } from '../backup/beginning.ts';
import { probeKeys } from '../backup/probe.ts';
import { LifeboatError } from '../base/errors.ts';
import type { HeldKey } from '../keys/keyring.ts';
import type { ServiceClient } from '../service/client.ts';
import type { InstanceRecord } from '../view/fleet/fleet-facts.ts';
import { isSameBackup } from '../view/fleet/openers.ts';
import type { ListedBackup } from '../view/fleet/status-schema.ts';

/** What the first block of a backup showed, as stored: the keys that were tried, by fingerprint. */
export type KeptFit = NonNullable<LastSeen['fits']>[number];

/** Downloads begun for one instance at a time. */
const MAX_TRIES = 3;

interface TryFit {
  readonly service: Pick<ServiceClient, 'download'>;
  /** The completed backups, the newest first. */
  readonly done: readonly ListedBackup[];
  readonly record: InstanceRecord;
  /** Fingerprints of the keys that are held for the instance. */
  readonly held: readonly string[];
  /** Loads these keys. Called only when a backup is tried. */
  readonly load: () => Promise<readonly HeldKey[]>;
  readonly kept: readonly KeptFit[];
  readonly signal: AbortSignal;
}

/**
 * Finds the newest backup that a held key opens, by the first 32 bytes of each; the download ends there.
 * Downloads nothing that the record, or an earlier call with the same keys, answers. Resolves with findings
 * about listed backups. Sends only GETs. Rejects with download errors and `backup.not-encrypted`.
 */
export async function tryFit(given: TryFit): Promise<KeptFit[]> {
  const { service, done, record, held, load, kept, signal } = given;
  const fits = kept.filter((fit) => done.some((backup) => isOf(fit, backup)) && stillHolds(fit, held));
  let keys: readonly HeldKey[] | undefined;
  let tries = 0;
  for (const backup of done) {
    const { proven, unopened = [] } = record.ledger;
    if (proven.some((one) => isSameBackup(one, backup))) break;
    const known = fits.find((fit) => isOf(fit, backup));
    if (known?.key !== undefined) break;
    const failed = unopened.find((one) => isSameBackup(one, backup));
    const isSettled = known !== undefined || (failed !== undefined && covers(failed.tried, held));
    if (isSettled || backup.downloadable === false) continue;
    if (tries >= MAX_TRIES || held.length === 0) break;
    tries += 1;
    keys ??= await load();
    const fit = await tryOne(service, backup, { keys, signal });
    fits.push(fit);
    if (fit.key !== undefined) break;
  }
  return fits;
}

/** Compares by more than the id, which the service may reassign. */
function isOf(fit: KeptFit, { id, backupId, triggeredAt }: ListedBackup): boolean {
  return fit.id === id && fit.backupId === backupId && fit.triggeredAt === triggeredAt;
}

/** Removed keys open nothing, and added ones may. */
function stillHolds({ key, tried }: KeptFit, held: readonly string[]): boolean {
  return key === undefined ? covers(tried, held) : held.includes(key);
}

function covers(tried: readonly string[], held: readonly string[]): boolean {
  return held.every((key) => tried.includes(key));
}

async function tryOne(
  service: TryFit['service'],
  { id, backupId, triggeredAt }: ListedBackup,
  { keys, signal }: Pick<TryFit, 'signal'> & { readonly keys: readonly HeldKey[] },
): Promise<KeptFit> {
  const head = await headOf(service, id, signal);
  const found = probeKeys(head, keys);
  if (found.result === 'not-a-backup')
    throw new LifeboatError(
      'backup.not-encrypted',
      `backup ${id} is not encrypted: it begins as ${found.looksLike}`,
    );
  return {
    ...{ id, backupId, triggeredAt },
    ...(found.result === 'fits' ? { key: found.fingerprint } : {}),
    tried: keys.map(({ fingerprint }) => fingerprint),
  };
}

/** The first bytes of a backup. The download is ended there, and its connection with it. */
export async function headOf(
  service: TryFit['service'],
  id: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const { stream } = await service.download(id, { signal, onlyGet: true });
  let head = Buffer.alloc(0);
  try {
    // Leaving the loop destroys the stream and its connection.
    for await (const chunk of stream) {
      head = Buffer.concat([head, chunk as Buffer]);
      if (head.length >= PROBE_BYTES) break;
    }
  } finally {
    stream.destroy();
  }
  return head.subarray(0, PROBE_BYTES);
}
