import * as z from 'zod';
import type { Entry } from '../journal.ts';

/** 12 lower-case hex digits; see `Keyring.fingerprint`. */
export const Fingerprint = z.string().regex(/^[0-9a-f]{12}$/);

/** A backup: `id` inside the instance, `backup_id` across instances (service-api.md section 2.1). */
const BackupName = z.object({ id: z.int(), backup_id: z.string().optional() });

const run = z.string();
/**
 * When it was sent or lost, by the clock of the sender, which may not be the one that stamps entries. RFC
 * 3339.
 */
const at = z.string().optional();

/** Bodies of the entries about keys in the stream `instance/<name>`, by entry type. */
export const KEY_ENTRIES = {
  /** The key is stored and may be sent from now on. `length` in characters, `store` the kind of key store. */
  'key.pending': z.object({
    fingerprint: Fingerprint,
    run,
    origin: z.enum(['generated', 'given']),
    store: z.string(),
    length: z.int().nonnegative(),
    /** For a generated key: `checkOfGenerated`. */
    check: z.string().optional(),
  }),
  /**
   * A request with the key may have been sent: until its answer is on record, it or `previous` is in force.
   */
  'key.sent': z.object({ fingerprint: Fingerprint, previous: Fingerprint.optional(), run, at }),
  /** The newest request with the key was refused, or never sent. Says nothing about earlier ones. */
  'key.refused': z.object({ fingerprint: Fingerprint, run }),
  /** The key is in force: the service said so, its state proved it, or the operator set it elsewhere. */
  'key.set': z.object({
    fingerprint: Fingerprint,
    run,
    answer: z.enum(['accepted', 'adopted', 'outside']),
  }),
  /** The key was sent and the answer is lost: it or `previous` is in force. */
  'key.uncertain': z.object({ fingerprint: Fingerprint, previous: Fingerprint.optional(), run, at }),
  /** A backup was opened with the key and read; `negative` says whether the backup refused another key. */
  'key.proven': z.object({
    fingerprint: Fingerprint,
    run,
    backup: BackupName,
    verdict: z.enum(['fits', 'intact', 'readable', 'restored']),
    cipherSha256: z.string(),
    contentSha256: z.string().optional(),
    /** Bytes of the file, and of its content; missing in older entries. */
    cipherBytes: z.int().nonnegative().optional(),
    contentBytes: z.int().nonnegative().optional(),
    negative: z.enum(['refused', 'not-applicable']),
  }),
  /** A backup made after the key was sent does not open with it: the service did not take it. */
  'key.refuted': z.object({ fingerprint: Fingerprint, run, backup: BackupName }),
  /** An operator stored a key by hand; when it was in force is unknown. */
  'key.added': z.object({ fingerprint: Fingerprint, note: z.string().optional() }),
} as const;

export type KeyEntryType = keyof typeof KEY_ENTRIES;
export type KeyEntryBody<Type extends KeyEntryType> = z.infer<(typeof KEY_ENTRIES)[Type]>;

/** An entry about a key, read. */
export type KeyFact = {
  [Type in KeyEntryType]: { readonly type: Type; readonly body: KeyEntryBody<Type> };
}[KeyEntryType];

const Named = z.object({ fingerprint: Fingerprint });

/**
 * Reads an entry about a key; `undefined` for any other. A malformed body that names a fingerprint counts as
 * `key.uncertain`: no key of a ledger is left out, and nothing more is assumed.
 */
export function readKeyFact(entry: Pick<Entry, 'type' | 'body'>): KeyFact | undefined {
  if (!isKeyEntryType(entry.type)) return undefined;
  const whole = KEY_ENTRIES[entry.type].safeParse(entry.body);
  // The schema was looked up by the type, so the two match; TypeScript cannot follow that.
  if (whole.success) return { type: entry.type, body: whole.data } as KeyFact;
  const named = Named.safeParse(entry.body);
  if (!named.success) return undefined;
  return { type: 'key.uncertain', body: { fingerprint: named.data.fingerprint, run: '' } };
}

/** Whether entries of this type are about keys. */
export function isKeyEntryType(type: string): type is KeyEntryType {
  return Object.hasOwn(KEY_ENTRIES, type);
}
