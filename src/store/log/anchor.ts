import { hash } from 'node:crypto';
import { EXIT, LifeboatError } from '../../errors.ts';
import { show } from '../../text.ts';
import type { Head, StreamName } from '../journal.ts';

/** What an anchor says: this stream had this many entries, and the last of them had a hash that begins so. */
export interface Anchor {
  readonly stream: StreamName;
  readonly seq: number;
  /** The first 20 hex digits. */
  readonly hash: string;
}

const HASH_DIGITS = 20;
const FORM =
  /^lifeboat:(instance\/)?([A-Za-z0-9][A-Za-z0-9._-]{0,99}):([1-9]\d{0,14}):([0-9a-f]{20}):([0-9a-f]{4})$/u;

/**
 * The head of a run in one short line for a ticket, where nobody who rewrites the journal can reach it:
 * `lifeboat:<run>:<seq>:<20 hex digits of the head's hash>:<4 hex digits of the SHA-256 of what stands before them>`. That of a ledger names
 * `instance/<name>` instead of the run.
 */
export function anchorOf({ stream, seq, hash: full }: Head): string {
  const text = `lifeboat:${stream.replace(/^run\//u, '')}:${seq}:${full.slice(0, HASH_DIGITS)}`;
  return `${text}:${checkOf(text)}`;
}

/** Reads an anchor as it comes out of a ticket. Throws `anchor.typo` (exit 2) for one that was not copied whole: that proves nothing. */
export function parseAnchor(pasted: string): Anchor {
  const text = pasted.replace(/^[\s'"`<(]+|[\s'"`>).,;]+$/gu, '');
  const [whole, ledger, name, seq, digits, check] = FORM.exec(text) ?? [];
  if (
    whole !== undefined &&
    name !== undefined &&
    digits !== undefined &&
    checkOf(text.slice(0, -5)) === check
  )
    return { stream: `${ledger === undefined ? 'run' : 'instance'}/${name}`, seq: Number(seq), hash: digits };
  throw new LifeboatError('anchor.typo', `this is not an anchor, or not copied whole: ${show(pasted, 120)}`, {
    hints: ['it looks like lifeboat:RUN:NUMBER:20 HEX DIGITS:4 HEX DIGITS', 'nothing was verified by it'],
    exitCode: EXIT.usage,
  });
}

function checkOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 4);
}
