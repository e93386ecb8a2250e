import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import type { Entry, Json, NewEntry } from '../journal.ts';
import { Fingerprint } from './key-epochs.ts';

/* Custody of an instance's keys, in its ledger: sealed copies, a key set by somebody else, offered or not. */

/** As `key-epochs.ts` names it. */
const Backup = z.object({
  id: z.int(),
  backup_id: z.string().optional(),
  triggered_at: z.string().optional(),
});

const reason = z.string();

/** In the stream `instance/<name>`. */
const ENTRIES = lazily(() => ({
  /** None of the held keys opens it: somebody else set a key. `tried` are fingerprints. */
  'custody.unknown': z.object({ backup: Backup, tried: z.array(Fingerprint) }),
  /** A held key opens its first block. */
  'custody.fits': z.object({ backup: Backup, fingerprint: Fingerprint }),
  /**
   * A key was sealed to these recipients and is in all of these places (names in the config). `sealed` is the
   * armoured age file, if the store is one of them.
   */
  'custody.escrowed': z.object({
    fingerprint: Fingerprint,
    epoch: z.int().positive(),
    recipients: z.array(z.string()).min(1),
    places: z.array(z.object({ place: z.string(), sha256: z.string().optional() })).min(1),
    sealed: z.string().optional(),
    at: z.string().optional(),
  }),
  /** Not offered until `custody.offered`. `compromised`: someone else may know the key. */
  'custody.retired': z.object({ fingerprint: Fingerprint, reason, compromised: z.boolean().default(false) }),
  'custody.offered': z.object({ fingerprint: Fingerprint, reason: reason.optional() }),
  /** To be destroyed at `due` or later. `because`: despite these reasons against it. */
  'custody.scheduled': z.object({
    fingerprint: Fingerprint,
    due: z.string(),
    because: reason.optional(),
    against: z.array(z.string()).optional(),
  }),
  'custody.cancelled': z.object({ fingerprint: Fingerprint, reason }),
  /** Deleted from the key store that carried it out. The key's record stays. */
  'custody.destroyed': z.object({ fingerprint: Fingerprint, store: z.string(), because: reason.optional() }),
}));

type Entries = ReturnType<typeof ENTRIES>;
export type CustodyType = keyof Entries;
type CustodyBody<Type extends CustodyType> = z.infer<Entries[Type]>;

export function custodyEntry<Type extends CustodyType>(
  instance: string,
  type: Type,
  body: z.input<Entries[Type]>,
): NewEntry {
  return { stream: `instance/${instance}`, type, body: ENTRIES()[type].parse(body) as Json };
}

/** The newest of a key. */
export interface Escrowed {
  readonly epoch: number;
  /** RFC 3339, by the clock that stamps the journal. */
  readonly at: string;
  readonly recipients: readonly string[];
  /** Names in the config; a folder with the SHA-256 of its file. */
  readonly places: readonly { readonly place: string; readonly sha256?: string | undefined }[];
  /** Recipients of earlier copies that the newest leaves out: they can still open theirs. */
  readonly former: readonly string[];
}

export interface Scheduled {
  /** Carried out from then on. RFC 3339. */
  readonly due: string;
  readonly at: string;
  readonly by?: string | undefined;
  /** Why it was scheduled despite what is against it. */
  readonly because?: string | undefined;
  readonly against?: readonly string[] | undefined;
}

export interface KeyCustody {
  readonly escrowed?: Escrowed;
  readonly retired?: { readonly at: string; readonly reason: string; readonly compromised: boolean };
  readonly scheduled?: Scheduled;
  readonly destroyed?: { readonly at: string; readonly store: string; readonly because?: string | undefined };
}

/** A backup that no held key opened when it was tried. */
export interface UnknownBackup {
  readonly id: number;
  readonly backupId?: string | undefined;
  readonly triggeredAt?: string | undefined;
  /** When it was tried. RFC 3339. */
  readonly at: string;
}

export interface Custody {
  readonly keys: Readonly<Record<string, KeyCustody>>;
  /** Newest finding first; at most 50. */
  readonly unknown: readonly UnknownBackup[];
}

interface ScheduledKey {
  readonly fingerprint: string;
  readonly scheduled: Scheduled;
}

/** Scheduled and not destroyed yet. */
export function scheduledKeys({ keys }: Custody = NO_CUSTODY): readonly ScheduledKey[] {
  return Object.entries(keys).flatMap(([fingerprint, { scheduled }]) =>
    scheduled === undefined ? [] : [{ fingerprint, scheduled }],
  );
}

export const NO_CUSTODY: Custody = { keys: {}, unknown: [] };
const MAX = 50;

export function isCustodyType(type: string): type is CustodyType {
  return type.startsWith('custody.') && Object.hasOwn(ENTRIES(), type);
}

/** The same object if the entry cannot be read. Pure. */
export function nextCustody(
  before: Custody,
  entry: Pick<Entry, 'type' | 'body' | 'at'> & { readonly by?: string },
): Custody {
  if (!isCustodyType(entry.type)) return before;
  const read = ENTRIES()[entry.type].safeParse(entry.body);
  return read.success ? after(before, entry.type, read.data, entry) : before;
}

function after(
  before: Custody,
  type: CustodyType,
  data: unknown,
  { at, by }: Pick<Entry, 'at'> & { readonly by?: string },
): Custody {
  const is = <Type extends CustodyType>(of: Type): CustodyBody<Type> | undefined =>
    type === of ? (data as CustodyBody<Type>) : undefined;

  const unknown = is('custody.unknown');
  if (unknown !== undefined) {
    const { id, backup_id: backupId, triggered_at: triggeredAt } = unknown.backup;
    const others = before.unknown.filter((one) => !isSame(one, unknown.backup));
    return { ...before, unknown: [{ id, backupId, triggeredAt, at }, ...others].slice(0, MAX) };
  }
  const fits = is('custody.fits');
  if (fits !== undefined)
    return { ...before, unknown: before.unknown.filter((one) => !isSame(one, fits.backup)) };

  const { fingerprint } = data as { readonly fingerprint: string };
  const key = before.keys[fingerprint] ?? {};
  const put = (next: KeyCustody): Custody => ({ ...before, keys: { ...before.keys, [fingerprint]: next } });
  const escrowed = is('custody.escrowed');
  if (escrowed !== undefined) {
    const { epoch, recipients, places } = escrowed;
    const past = [...(key.escrowed?.recipients ?? []), ...(key.escrowed?.former ?? [])];
    const former = [...new Set(past)].filter((one) => !recipients.includes(one));
    return put({ ...key, escrowed: { epoch, at, recipients, places, former } });
  }
  const retired = is('custody.retired');
  if (retired !== undefined)
    return put({ ...key, retired: { at, reason: retired.reason, compromised: retired.compromised } });
  const scheduled = is('custody.scheduled');
  if (scheduled !== undefined) {
    const { due, because, against } = scheduled;
    return put({ ...key, scheduled: { due, at, by, because, against } });
  }
  const { retired: _retired, ...offered } = key;
  if (type === 'custody.offered') return put(offered);
  const { scheduled: _scheduled, ...kept } = key;
  const destroyed = is('custody.destroyed');
  return put(
    destroyed === undefined
      ? kept
      : { ...kept, destroyed: { at, store: destroyed.store, because: destroyed.because } },
  );
}

function isSame(one: UnknownBackup, other: z.infer<typeof Backup>): boolean {
  return one.backupId === undefined || other.backup_id === undefined
    ? one.id === other.id && one.triggeredAt === other.triggered_at
    : one.backupId === other.backup_id;
}
