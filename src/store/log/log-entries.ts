import * as z from 'zod';
import { msOf } from '../../base/instant.ts';
import { lazily } from '../../base/lazily.ts';
import { type Entry, type JournalReader, LOG_STREAM, type StoredEntry } from '../journal.ts';
import { type Checkpoint, claimOf } from './checkpoint.ts';

/* The entries of `store/log`. The store itself writes the first one, with the first append. */

/** The first leaf of every log: the log's name, and the key that signs it. */
export const LogBegun = z.object({
  origin: z.string(),
  /** PEM, SubjectPublicKeyInfo (ed25519). */
  publicKey: z.string(),
  format: z.literal(1),
});

/** Its own installation writes this when it first opens the store for writing. */
export const KeyAnnounced = z.object({ installation: z.string(), publicKey: z.string() });

/** Counts if a trusted key signed the note (named-keys.ts). */
export const KeyEndorsed = z.object({ note: z.string(), reason: z.string() });

/** The last entry of a store that was moved: the log continues in another store, which has all entries. */
export const StoreMoved = z.object({ to: z.string() });

/** The first entry that a store adds after the entries moved into it. */
export const StoreArrived = z.object({ from: z.string() });

/**
 * A person accepts that entries are gone: which places showed it, what is missing, and which calls may have
 * been sent in that part. The same transaction puts each of these calls in doubt in its instance's ledger.
 */
const lossAccepted = lazily(() => {
  const lostCall = z.object({
    stream: z.string(),
    instance: z.string(),
    verb: z.string(),
    intent: z.string(),
    at: z.string(),
  });
  return z.object({
    reason: z.string(),
    who: z.json().optional(),
    /** When the loss was found. */
    size: z.int().nonnegative(),
    /** The furthest misfit of each place, as a signed note. */
    checkpoints: z.array(z.object({ place: z.string(), size: z.int(), root: z.string(), note: z.string() })),
    /** Every other misfit of this log: `<size>:<first 20 hex digits of the root>`. */
    also: z.array(z.string()).default([]),
    /** How many rows the store lacked of those that its signed head counts. */
    rowsMissing: z.int().nonnegative().default(0),
    /** Missing leaves before the last existing one: `[first, last]`. */
    gaps: z.array(z.tuple([z.int().nonnegative(), z.int().nonnegative()])).default([]),
    calls: z.array(lostCall),
    /** Calls of the lost part whose outcome was on record, or for which no checkpoint had room. */
    callsLeftOut: z.int().nonnegative().default(0),
  });
});

/** A change without the folder of the team's checkpoints. `lack`: what is wrong with it; empty if nothing. */
export const AloneAccepted = z.object({ reason: z.string(), lack: z.string() });

/** Of a run with what it proved, or of evaluations on record with what holds by each. */
export const ReceiptMade = lazily(() => {
  const digest = z.string().regex(/^[0-9a-f]{64}$/u);
  /** Of the bundle's bytes, and of the public key in DER. */
  const hashes = { sha256: digest, key: digest };
  return z.union([
    z.object({ run: z.string(), result: z.enum(['PASSED', 'WARNED', 'FAILED']), ...hashes }),
    /** The instance, or `plan.NAME`; `*` for all that are on record. */
    z.object({ evaluation: z.string(), properties: z.array(z.string()), ...hashes }),
  ]);
});

/** In a note that a key of the log signed. */
export const ReceiptKeyEndorsed = z.object({ note: z.string() });

export const RECEIPT_MADE = 'receipt.made';
export const RECEIPT_KEY_ENDORSED = 'receipt-key.endorsed';
export const LOG_BEGUN = 'log.begun';
export const KEY_ANNOUNCED = 'key.announced';
export const KEY_ENDORSED = 'key.endorsed';
export const LOSS_ACCEPTED = 'loss.accepted';
export const ALONE_ACCEPTED = 'alone.accepted';
export const STORE_MOVED = 'store.moved';
export const STORE_ARRIVED = 'store.arrived';

/** The clock differs from the time that passed: `{seconds}` ahead or, below zero, behind. */
export const CLOCK_MOVED = 'clock.moved';

/** By how many seconds the clock was moved; 0 for every other entry. */
export function clockMoved({ type, body }: Pick<StoredEntry, 'type' | 'body'>): number {
  if (type !== CLOCK_MOVED) return 0;
  const seconds = Number(/^\{"seconds":(-?\d{1,9}(?:\.\d{1,9})?)\}$/u.exec(body)?.[1] ?? 0);
  return seconds;
}

/** Seconds. */
export const MAX_BEHIND = 120;

/**
 * Set, below zero, if an append's clock is more than two minutes behind the entry before it; recorded first,
 * so that an audit does not take the append for back-dating. Times are RFC 3339.
 */
export function clockNote(before: string | undefined, at: string): { readonly seconds: number } | undefined {
  const seconds = Math.round((msOf(at) - msOf(before ?? at)) / 1000);
  return seconds < -MAX_BEHIND ? { seconds } : undefined;
}

export interface Loss extends z.output<ReturnType<typeof lossAccepted>> {
  readonly index: number;
  readonly at: string;
  readonly by: string;
}

/** From `store/log`, oldest first. Pure. */
export function lossesIn(entries: readonly Entry[]): readonly Loss[] {
  return entries.flatMap(({ type, body, index, at, by }) => {
    const parsed = type === LOSS_ACCEPTED ? lossAccepted().safeParse(body) : undefined;
    return parsed?.success === true ? [{ ...parsed.data, index, at, by }] : [];
  });
}

/** Every later report lists them first. */
export async function lossesOf(journal: Pick<JournalReader, 'read'>): Promise<readonly Loss[]> {
  return lossesIn(await journal.read(LOG_STREAM));
}

export function lossInWords({ size, checkpoints, gaps, calls, reason }: Loss): string {
  const furthest = Math.max(...checkpoints.map((checkpoint) => checkpoint.size), size);
  const inside = gaps.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const lost = [
    ...(furthest > size ? [`of ${furthest} signed entries, those after number ${size} are lost`] : []),
    ...(inside > 0 ? [`${inside} of the first ${size} entries of this store are lost`] : []),
  ];
  if (lost.length === 0) lost.push(`the store did not agree with its checkpoints at ${size} entries`);
  const doubts = calls.length === 0 ? 'no call was put in doubt' : `calls put in doubt: ${calls.length}`;
  return `${lost.join('; ')}; ${doubts}; accepted because: ${reason}`;
}

/** A test for whether a person accepted that a checkpoint does not fit the store's log `origin`. Pure. */
export function excusesOf(
  losses: readonly Loss[],
  origin: string | undefined,
): (claim: Checkpoint) => boolean {
  const known = new Set<string>();
  const origins = new Set<string>();
  for (const { checkpoints, also } of losses) {
    for (const mark of also) known.add(mark);
    for (const { note } of checkpoints) {
      const claim = claimOf(note);
      if (claim === undefined) continue;
      if (claim.origin === origin) known.add(markOf(claim));
      else origins.add(claim.origin);
    }
  }
  return (claim) => (claim.origin === origin ? known.has(markOf(claim)) : origins.has(claim.origin));
}

/** Identifies a checkpoint of a known log. */
export function markOf({ size, root }: Pick<Checkpoint, 'size' | 'root'>): string {
  return `${size}:${root.slice(0, 20)}`;
}
