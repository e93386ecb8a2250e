import { createHash, createPublicKey } from 'node:crypto';
import { type Entry, LOG_STREAM, type NewEntry } from '../store/journal.ts';
import { textOf } from '../store/log/checkpoint.ts';
import type { Signer } from '../store/log/signer.ts';
import type { Statement } from './statement.ts';

/*
 * What the stream `store/log` says of receipts: each receipt by its hash, and the key that signs them in a
 * note of the installation's signing key, so that trust in that key extends to the receipts.
 */

const RECEIPT_MADE = 'receipt.made';
const KEY_ENDORSED = 'receipt-key.endorsed';
const ENDORSEMENT = 'lifeboat.receipt-key/1';

/** A receipt as the log has it. */
export interface MadeReceipt {
  readonly run: string;
  readonly result: Statement['predicate']['result'];
  /** SHA-256 of the bundle's bytes. */
  readonly sha256: string;
  /** SHA-256 of the public key in DER. */
  readonly key: string;
}

/** The entry of a receipt; it is written before the receipt leaves the program. */
export function receiptEntry({ run, result, sha256, key }: MadeReceipt): NewEntry {
  return { stream: LOG_STREAM, type: RECEIPT_MADE, body: { run, result, sha256, key } };
}

/** The entry with which an installation vouches for its receipt key; `origin` binds the note to this log. */
export function keyEntry(publicKey: string, origin: string, signer: Signer): NewEntry {
  const name = origin.replace('lifeboat/', 'lifeboat-receipt-key/');
  const note = signer.note(endorsed(publicKey), name);
  return { stream: LOG_STREAM, type: KEY_ENDORSED, body: { note } };
}

/** Whether an entry of the log names this receipt key; whether its note is rightly signed is for an audit. */
export function isKeyNamed(entries: readonly Entry[], publicKey: string): boolean {
  return entries.some(({ type, body }) => {
    const note = type === KEY_ENDORSED && typeof body === 'object' && body !== null && 'note' in body;
    return note && typeof body['note'] === 'string' && textOf(body['note']) === endorsed(publicKey);
  });
}

/** SHA-256 of a public key (PEM) in DER, 64 hex digits. */
export function keyHash(publicKey: string): string {
  const der = createPublicKey(publicKey).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('hex');
}

function endorsed(publicKey: string): string {
  return `${ENDORSEMENT}\n${publicKey.trimEnd()}\n`;
}
