import { leafHash } from './log/merkle.ts';

/** What of an entry is hashed. `body` is canonical text already (canonical.ts). */
export interface LeafFields {
  readonly stream: string;
  readonly seq: number;
  readonly at: string;
  readonly by: string;
  readonly type: string;
  readonly body: string;
}

/**
 * The canonical text of an entry, which is the data of its leaf, exactly, so that anyone can write a verifier
 * in any language: the canonical JSON (RFC 8785) of the object `{at, body, by, seq, stream, type}`, in which
 * every character above U+007E, and U+007F, is written as `\uXXXX` (lower-case hex, UTF-16 units). So it is
 * one line of printable ASCII, safe on a terminal, and needs no JSON writer to be verified: an export holds
 * these very lines.
 */
export function leafText({ stream, seq, at, by, type, body }: LeafFields): string {
  const [a, b, c, d] = [quoted(at), quoted(by), quoted(stream), quoted(type)];
  return `{"at":${a},"body":${body},"by":${b},"seq":${seq},"stream":${c},"type":${d}}`;
}

/** A text as JSON in ASCII; an audit writes four of them a million times, and nearly all are as they are. */
function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : ascii(JSON.stringify(text));
}

/** Printable ASCII without the quotation mark and the backslash. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/u;

/** The RFC 6962 leaf hash of an entry, 64 lower-case hex digits. */
export function hashOf(fields: LeafFields): string {
  return leafHash(leafText(fields)).toString('hex');
}

/** JSON text with everything beyond printable ASCII escaped; it stays the same JSON. */
export function ascii(json: string): string {
  // Nearly every text is ASCII already, and a search is much cheaper than a replacement that finds nothing.
  if (!BEYOND.test(json)) return json;
  return json.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const BEYOND = /[^\x20-\x7e]/u;
