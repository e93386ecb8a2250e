import canonicalize from 'canonicalize';
import { LifeboatError } from '../base/errors.ts';
import { formatBytes } from '../base/format.ts';
import { Secret } from '../base/secret.ts';
import type { Json, LeafFields } from './journal.ts';
import { leafHash } from './log/merkle.ts';

/** Bytes of the text as it is stored. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Levels. Recursive JSON writers give up on a few thousand; nothing honest needs more than ten. */
const MAX_BODY_DEPTH = 100;

/**
 * The text of an entry's body that gets hashed and stored: canonical JSON (RFC 8785) with everything beyond
 * printable ASCII escaped (`ascii`). Throws `journal.secret` for a body that holds a `Secret`,
 * `journal.too-large` over the limits, `journal.bad-entry` for what JSON cannot say.
 */
export function canonicalBody(body: Json, what: string): string {
  const canonical = canonicalText(body, what);
  // Escapes only make it longer.
  assertLength(canonical, what);
  const text = ascii(canonical);
  assertLength(text, what);
  assertDepth(text, what);
  return text;
}

function assertLength(text: string, what: string): void {
  if (text.length > MAX_BODY_BYTES) throw tooLarge(what, `over ${formatBytes(MAX_BODY_BYTES)}`);
}

/** Throws `journal.too-large` for JSON text that nests too deep for recursive readers. */
export function assertDepth(text: string, what: string): void {
  if (depthOf(text) <= MAX_BODY_DEPTH) return;
  throw tooLarge(what, `nested deeper than ${MAX_BODY_DEPTH} levels`);
}

/** Whether a text is exactly what `canonicalBody` makes of its JSON value. False for what is no JSON. */
export function isCanonical(text: string): boolean {
  if (!text.includes('\\') && ascii(text) === text) return endOfPlain(text, 0, 0) === text.length;
  try {
    const canonical = canonicalize(JSON.parse(text));
    return canonical !== undefined && ascii(canonical) === text;
  } catch {
    return false;
  }
}

/**
 * Where the canonical JSON value ends that begins at `at`, in ASCII text without escapes; -1 where none does.
 * An audit asks this a million times, and a parser and a writer take five times as long.
 */
function endOfPlain(text: string, at: number, depth: number): number {
  switch (text.charCodeAt(at)) {
    case QUOTE:
      return text.indexOf('"', at + 1) + 1 || -1;
    case 0x7b:
      return depth < MAX_BODY_DEPTH ? endOfGroup(text, at, depth + 1, 0x7d) : -1;
    case 0x5b:
      return depth < MAX_BODY_DEPTH ? endOfGroup(text, at, depth + 1, 0x5d) : -1;
    case 0x74:
      return text.startsWith('true', at) ? at + 4 : -1;
    case 0x66:
      return text.startsWith('false', at) ? at + 5 : -1;
    case 0x6e:
      return text.startsWith('null', at) ? at + 4 : -1;
    default:
      return endOfNumber(text, at);
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;

/** The same of an array, or of an object, whose names are in order of UTF-16; `close` is its bracket. */
function endOfGroup(text: string, start: number, depth: number, close: number): number {
  if (text.charCodeAt(start + 1) === close) return start + 2;
  let before: string | undefined;
  for (let at = start + 1; ; at += 1) {
    if (close === 0x7d) {
      const end = text.charCodeAt(at) === QUOTE ? text.indexOf('"', at + 1) : -1;
      const name = text.slice(at + 1, end);
      if (end === -1 || text.charCodeAt(end + 1) !== COLON || (before !== undefined && before >= name))
        return -1;
      before = name;
      at = end + 2;
    }
    at = endOfPlain(text, at, depth);
    const next = at === -1 ? -1 : text.charCodeAt(at);
    if (next === close) return at + 1;
    if (next !== COMMA) return -1;
  }
}

function endOfNumber(text: string, at: number): number {
  let end = at;
  while (isOfNumber(text.charCodeAt(end))) end += 1;
  const number = text.slice(at, end);
  return Number.isFinite(Number(number)) && String(Number(number)) === number ? end : -1;
}

/** Digits, the signs, the point, and the `e` of an exponent. */
function isOfNumber(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x2e || code === 0x65 || code === 0x2b;
}

/** The value that JSON text holds; undefined for what is no JSON. */
export function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function canonicalText(body: Json, what: string): string {
  try {
    const text = canonicalize(body);
    if (text !== undefined) return text;
  } catch (error) {
    if (holdsSecret(body, new Set())) {
      throw new LifeboatError('journal.secret', `${what} holds a secret and was not written`, {
        hints: ['this is a bug in lifeboat: only the fingerprint of a key may be journalled'],
      });
    }
    const wellFormed = withoutLoneSurrogates(body);
    if (wellFormed !== undefined) return wellFormed;
    throw badEntry(what, error);
  }
  throw badEntry(what, undefined);
}

/**
 * A server may legally send `"\ud800"`, and a run must not break on it. JSON.stringify escapes exactly the
 * surrogates that stand alone, so they can be replaced in its text.
 */
function withoutLoneSurrogates(body: Json): string | undefined {
  try {
    const escaped = JSON.stringify(body, finite);
    const text = escaped.replace(/\\(?:u(d[89a-f][0-9a-f]{2})|.)/gu, (code, lone) =>
      lone === undefined ? code : '\\ufffd',
    );
    return canonicalize(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** JSON.stringify would turn NaN into null without a word. */
function finite(_key: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('not a finite number');
  return value;
}

function holdsSecret(value: unknown, seen: Set<object>): boolean {
  if (value instanceof Secret) return true;
  if (value === null || typeof value !== 'object' || seen.has(value)) return false;
  seen.add(value);
  return Object.values(value).some((inner) => holdsSecret(inner, seen));
}

/** Brackets inside strings do not count. */
function depthOf(text: string): number {
  if (text.length <= 2 * MAX_BODY_DEPTH) return 0;
  let depth = 0;
  let deepest = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (character === 0x22) index = endOfString(text, index);
    else if (character === 0x5b || character === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (character === 0x5d || character === 0x7d) depth -= 1;
  }
  return deepest;
}

function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text.charCodeAt(index) !== 0x22) {
    index += text.charCodeAt(index) === 0x5c ? 2 : 1;
  }
  return index;
}

function tooLarge(what: string, how: string): LifeboatError {
  return new LifeboatError('journal.too-large', `${what} is too large for the journal: ${how}`, {
    hints: ['keep large data in a file and journal its SHA-256'],
  });
}

function badEntry(what: string, cause: unknown): LifeboatError {
  return new LifeboatError('journal.bad-entry', `${what} holds something that JSON cannot say`, { cause });
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
