import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import type * as z from 'zod';
import { type Entry, LOG_STREAM, type NewEntry } from '../store/journal.ts';
import { openNote, textOf } from '../store/log/checkpoint.ts';
import {
  RECEIPT_KEY_ENDORSED,
  RECEIPT_MADE,
  ReceiptKeyEndorsed,
  ReceiptMade,
} from '../store/log/log-entries.ts';
import type { Signer } from '../store/log/signer.ts';

/*
 * What the stream `store/log` says of receipts: each receipt by its hash, and the key that signs them in a
 * note of the installation's signing key, so that trust in that key extends to the receipts.
 */

const ENDORSEMENT = 'lifeboat.receipt-key/1';

export type MadeReceipt = Readonly<z.infer<ReturnType<typeof ReceiptMade>>>;

/** The entry of a receipt; it is written before the receipt leaves the program. */
export function receiptEntry(made: MadeReceipt): NewEntry {
  return { stream: LOG_STREAM, type: RECEIPT_MADE, body: ReceiptMade().parse(made) };
}

/** The entry with which an installation vouches for its receipt key; `origin` binds the note to this log. */
export function keyEntry(publicKey: string, origin: string, signer: Signer): NewEntry {
  const note = signer.note(endorsed(publicKey), endorsementName(origin));
  return { stream: LOG_STREAM, type: RECEIPT_KEY_ENDORSED, body: { note } };
}

/** Does not verify the signature of the note: an audit does. */
export function isKeyNamed(entries: readonly Entry[], publicKey: string): boolean {
  return entries.some((entry) => textOf(noteIn(entry) ?? '') === endorsed(publicKey));
}

/** The receipts on record, in order. Unreadable entries are none. Pure. */
export function receiptsIn(entries: readonly Entry[]): readonly (MadeReceipt & Pick<Entry, 'seq' | 'at'>)[] {
  return entries.flatMap(({ type, body, seq, at }) => {
    const made = type === RECEIPT_MADE ? ReceiptMade().safeParse(body).data : undefined;
    return made === undefined ? [] : [{ ...made, seq, at }];
  });
}

/** A receipt key that the log names. `signed`: one of the believed keys signed the note that names it. */
export interface NamedReceiptKey {
  readonly publicKey: string;
  readonly seq: number;
  readonly endorsement: 'signed' | 'unknown-key' | 'bad-signature' | 'unreadable';
}

/** The receipt keys that the log names, by the SHA-256 of their DER; a signed endorsement counts first. */
export function receiptKeysIn(
  entries: readonly Entry[],
  origin: string | undefined,
  believed: readonly KeyObject[],
): ReadonlyMap<string, NamedReceiptKey> {
  const named = new Map<string, NamedReceiptKey>();
  for (const entry of entries) {
    const note = noteIn(entry);
    const publicKey = note === undefined ? undefined : keyIn(textOf(note) ?? '');
    if (note === undefined || publicKey === undefined) continue;
    const { result } = openNote(note, endorsementName(origin ?? ''), believed);
    const hash = keyHash(publicKey);
    if (named.get(hash)?.endorsement !== 'signed')
      named.set(hash, { publicKey, seq: entry.seq, endorsement: result });
  }
  return named;
}

/** SHA-256 of a public key (PEM) in DER, 64 hex digits. */
export function keyHash(publicKey: string): string {
  const der = createPublicKey(publicKey).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('hex');
}

function noteIn({ type, body }: Entry): string | undefined {
  return type === RECEIPT_KEY_ENDORSED ? ReceiptKeyEndorsed.safeParse(body).data?.note : undefined;
}

function endorsementName(origin: string): string {
  return origin.replace('lifeboat/', 'lifeboat-receipt-key/');
}

function endorsed(publicKey: string): string {
  return `${ENDORSEMENT}\n${publicKey.trimEnd()}\n`;
}

function keyIn(text: string): string | undefined {
  if (!text.startsWith(`${ENDORSEMENT}\n`)) return undefined;
  try {
    const pem = text.slice(ENDORSEMENT.length + 1);
    return endorsed(createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString()) === text
      ? pem
      : undefined;
  } catch {
    return undefined;
  }
}
