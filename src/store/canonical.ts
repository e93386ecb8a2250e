import canonicalize from 'canonicalize';
import { LifeboatError } from '../base/errors.ts';
import { formatBytes } from '../base/format.ts';
import { Secret } from '../base/secret.ts';
import type { Json, LeafFields } from './journal.ts';
import { leafHash } from './log/merkle.ts';

/** Of the text as stored. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Recursive JSON writers fail at a few thousand levels; real entries need fewer than ten. */
const MAX_BODY_DEPTH = 100;

/**
 * The text of a body that is hashed and stored: canonical JSON (RFC 8785) with all but printable ASCII
 * escaped (`ascii`). Throws `journal.secret` for a body with a `Secret`, `journal.too-large` over the limits,
 * `journal.bad-entry` for values that JSON cannot express.
 */
export function canonicalBody(body: Json, what: string): string {
  const canonical = canonicalText(body, what);
  // Escaping can only make the text longer, so check first.
  assertLength(canonical, what);
  const text = ascii(canonical);
  assertLength(text, what);
  assertDepth(text, what);
  return text;
}

function assertLength(text: string, what: string): void {
  if (text.length > MAX_BODY_BYTES) throw tooLarge(what, `over ${formatBytes(MAX_BODY_BYTES)}`);
}

/** Throws `journal.too-large` for JSON text nested too deeply for recursive readers. */
export function assertDepth(text: string, what: string): void {
  if (depthOf(text) <= MAX_BODY_DEPTH) return;
  throw tooLarge(what, `nested deeper than ${MAX_BODY_DEPTH} levels`);
}

/** Whether `canonicalBody` would make exactly this text. False for invalid JSON. */
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
 * The end of the canonical JSON value at `at`, in ASCII text without escapes; -1 if there is none. By hand,
 * because an audit does this a million times, and parsing and writing again takes five times as long.
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

/** An array, or an object with names in UTF-16 order; `close` is the closing bracket. */
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

function isOfNumber(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x2e || code === 0x65 || code === 0x2b;
}

/** Undefined for invalid JSON. */
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
 * A server may legally send `"\ud800"`, and a run must not fail on it. JSON.stringify escapes exactly the
 * lone surrogates, so replace them in its text.
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

/** JSON.stringify would silently turn NaN into null. */
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
 * The canonical text of an entry, the data of its leaf: the canonical JSON (RFC 8785) of the object `{at,
 * body, by, seq, stream, type}`, with every character above U+007E, and U+007F, as `\uXXXX` (lower-case hex,
 * UTF-16 units). One line of printable ASCII is safe on a terminal, and can be verified in any language and
 * without a JSON writer: an export holds these exact lines.
 */
export function leafText({ stream, seq, at, by, type, body }: LeafFields): string {
  const [a, b, c, d] = [quoted(at), quoted(by), quoted(stream), quoted(type)];
  return `{"at":${a},"body":${body},"by":${b},"seq":${seq},"stream":${c},"type":${d}}`;
}

/** As ASCII JSON. An audit writes four of them a million times, and nearly all need no escape. */
function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : ascii(JSON.stringify(text));
}

const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/u;

/** RFC 6962 leaf hash, 64 lower-case hex digits. */
export function hashOf(fields: LeafFields): string {
  return leafHash(leafText(fields)).toString('hex');
}

/** Escapes all but printable ASCII; the JSON value stays the same. */
export function ascii(json: string): string {
  // Nearly every text is ASCII, and a test is much cheaper than a replacement that finds nothing.
  if (!BEYOND.test(json)) return json;
  return json.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const BEYOND = /[^\x20-\x7e]/u;
