import { hash, type KeyObject, sign, verify } from 'node:crypto';
import { msOf } from '../../base/instant.ts';
import { LOG_STREAM, type StreamName } from '../journal.ts';
import { isStreamName } from '../new-entry.ts';

/**
 * The signed head of a log, in the form of c2sp.org/tlog-checkpoint, which is a signed note (`signNote`):
 *
 *     lifeboat/<16 hex digits>              the origin: the name of the log, and of the signing key too
 *     <size>                                how many entries
 *     <base64 root>                         of the RFC 6962 tree over them
 *     armed <stream> <instance> <verb> <intent> <time>
 *                                           extension lines: calls that may have left, and whose outcome
 *                                           is not on record at this size; each field percent-encoded as
 *                                           UTF-8, but for `/` and `:`
 *     armed-more <count>                    and this many more calls, for which a note has no room
 *
 *     — lifeboat/<16 hex digits> <base64 of key id and signature>
 */
export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  /** 64 lower-case hex digits. */
  readonly root: string;
  readonly armed: readonly ArmedCall[];
  /** How many more armed calls there were than are named. */
  readonly unnamed?: number;
}

export interface ArmedCall {
  /** The run, or the ledger for a single command of an earlier version. */
  readonly stream: StreamName;
  readonly instance: string;
  readonly verb: string;
  readonly intent: string;
  /** RFC 3339 UTC. */
  readonly at: string;
}

/** With a verified signature. */
export interface SignedCheckpoint extends Checkpoint {
  /** The installation, 16 hex digits (`installationOf`). */
  readonly signedBy: string;
  readonly note: string;
}

export type ReadCheckpoint =
  | { readonly result: 'signed'; readonly checkpoint: SignedCheckpoint }
  | { readonly result: 'unreadable' | 'unknown-key' | 'bad-signature' };

const ORIGIN = /^lifeboat\/[0-9a-f]{16}$/u;
/** A note names this many, the oldest; readers accept no more. */
export const MAX_ARMED = 400;
const MORE = 'armed-more';

export function isOrigin(text: string): boolean {
  return ORIGIN.test(text);
}

/** Pure. */
export function checkpointText({ origin, size, root, armed }: Checkpoint): string {
  const head = [origin, String(size), Buffer.from(root, 'hex').toString('base64')];
  const more = armed.length > MAX_ARMED ? [`${MORE} ${armed.length - MAX_ARMED}`] : [];
  return `${[...head, ...armed.slice(0, MAX_ARMED).map(armedLine), ...more].join('\n')}\n`;
}

/** Accepts a signature by one of the known keys. Never throws, whatever the text. */
export function readCheckpoint(note: string, knownKeys: readonly KeyObject[]): ReadCheckpoint {
  const parsed = parseCheckpoint(textOf(note) ?? '');
  if (parsed === undefined) return { result: 'unreadable' };
  // The key's name is the origin: a note that the key signs under another name is not a checkpoint.
  const opened = openNote(note, parsed.origin, knownKeys);
  if (opened.result !== 'signed') return opened;
  return { result: 'signed', checkpoint: { ...parsed, signedBy: installationOf(opened.key), note } };
}

/** Without checking the signature; undefined if it is not a checkpoint. */
export function claimOf(note: string | undefined): Checkpoint | undefined {
  return note === undefined ? undefined : parseCheckpoint(note.slice(0, note.lastIndexOf('\n\n') + 1));
}

/** Unverified; undefined if it is not a checkpoint. Ignores unknown lines. */
export function parseCheckpoint(text: string): Checkpoint | undefined {
  const [origin = '', size = '', root = '', ...rest] = text.split('\n');
  const digest = exactBase64(root);
  const isSound =
    isOrigin(origin) &&
    /^(?:0|[1-9][0-9]{0,14})$/u.test(size) &&
    digest?.length === 32 &&
    rest.at(-1) === '' &&
    rest.slice(0, -1).every((line) => line !== '');
  if (!isSound) return undefined;
  const lines = rest.slice(0, MAX_ARMED + 1);
  const armed = lines.slice(0, MAX_ARMED).flatMap((line) => parseArmed(line));
  const [unnamed] = lines.flatMap((line) => parseMore(line));
  return {
    ...{ origin, size: Number(size), root: digest.toString('hex'), armed },
    ...(unnamed === undefined ? {} : { unnamed }),
  };
}

/** The first 16 hex digits of the SHA-256 of the raw public key. */
export function installationOf(publicKey: KeyObject): string {
  return hash('sha256', rawPublicKey(publicKey), 'hex').slice(0, 16);
}

function armedLine({ stream, instance, verb, intent, at }: ArmedCall): string {
  return ['armed', stream, instance, verb, intent, at]
    .map(encodeURIComponent)
    .join(' ')
    .replaceAll('%2F', '/')
    .replaceAll('%3A', ':');
}

function parseMore(line: string): readonly number[] {
  const [word, count = '', ...rest] = line.split(' ');
  return word === MORE && rest.length === 0 && /^[1-9][0-9]{0,8}$/u.test(count) ? [Number(count)] : [];
}

function parseArmed(line: string): readonly ArmedCall[] {
  const fields = line.split(' ');
  if (fields.length !== 6 || fields[0] !== 'armed') return [];
  try {
    const [, stream = '', instance = '', verb = '', intent = '', at = ''] = fields.map(decodeURIComponent);
    const isStream = isStreamName(stream) && stream !== LOG_STREAM;
    return isStream && !Number.isNaN(msOf(at)) ? [{ stream, instance, verb, intent, at }] : [];
  } catch {
    return [];
  }
}

/*
 * The signed note of C2SP (c2sp.org/signed-note, version 1.0.0), with ed25519 signatures (type 0x01):
 *
 *     <text: any lines, the last one ended by a line feed>
 *     <an empty line; the last one of the note separates text and signatures>
 *     — <key name> <base64 of: key id (4 bytes), signature (64 bytes)>
 *
 * UTF-8 without control characters other than the line feed. A signature line begins with U+2014 and a space;
 * there may be several. The signature covers the text including its last line feed. The key id is the
 * beginning of the SHA-256 over the name of the key, a line feed, the byte 0x01 and the 32 bytes of the
 * public key: it selects a key and proves nothing.
 */

/** The specification asks for room for 16 signatures of up to 5 kB each. */
export const MAX_NOTE_BYTES = 128 * 1024;

/** The text must end in a line feed; the name has no space and no plus. `publicKey`: the 32 bytes. */
export function signNote(text: string, name: string, privateKey: KeyObject, publicKey: Buffer): string {
  const signature = sign(null, Buffer.from(text), privateKey);
  const line = Buffer.concat([keyId(name, publicKey), signature]).toString('base64');
  return `${text}\n— ${name} ${line}\n`;
}

type OpenedNote =
  | { readonly result: 'signed'; readonly text: string; readonly key: KeyObject }
  | { readonly result: 'unreadable' | 'unknown-key' | 'bad-signature' };

/**
 * The text of a note, with the first known key that signed it under this name. As the specification requires,
 * ignores signatures of other names and unknown keys, and rejects a note with a wrong signature of a known
 * key. Never throws, whatever the text.
 */
export function openNote(note: string, name: string, knownKeys: readonly KeyObject[]): OpenedNote {
  const text = textOf(note);
  if (text === undefined) return { result: 'unreadable' };
  let opened: OpenedNote = { result: 'unknown-key' };
  for (const line of note.slice(text.length + 1, -1).split('\n')) {
    const signature = parseSignature(line);
    if (signature === undefined) return { result: 'unreadable' };
    if (signature.name !== name) continue;
    const keys = knownKeys.filter((key) => keyIdOf(name, key).equals(signature.keyId));
    const key = keys.find((known) => verify(null, Buffer.from(text), known, signature.bytes));
    if (keys.length > 0 && key === undefined) return { result: 'bad-signature' };
    if (key !== undefined && opened.result !== 'signed') opened = { result: 'signed', text, key };
  }
  return opened;
}

/** Without checking the signatures; undefined if it is not a note. */
export function textOf(note: string): string | undefined {
  const end = note.lastIndexOf('\n\n');
  const isSound = end > 0 && note.endsWith('\n') && note.length <= MAX_NOTE_BYTES && note.isWellFormed();
  return isSound && !/[\x00-\x09\x0b-\x1f]/u.test(note) ? note.slice(0, end + 1) : undefined;
}

/** The first four bytes of `SHA-256(name || 0x0A || 0x01 || the 32 bytes of the public key)`. */
export function keyId(name: string, publicKey: Buffer): Buffer {
  const preimage = Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(0x01), publicKey]);
  return hash('sha256', preimage, 'buffer').subarray(0, 4);
}

const keyIds = new WeakMap<KeyObject, Map<string, Buffer>>();

/** `keyId` of a known key, derived once: of the keys of a large team, each append asks which one signed. */
export function keyIdOf(name: string, key: KeyObject): Buffer {
  const known = keyIds.get(key) ?? new Map<string, Buffer>();
  const id = known.get(name) ?? keyId(name, rawPublicKey(key));
  keyIds.set(key, known.set(name, id));
  return id;
}

/** 32 bytes (RFC 8032). */
export function rawPublicKey(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
}

function parseSignature(line: string) {
  const [, name, base64] = /^— ([^\s\x85+]+) ([A-Za-z0-9+/]+={0,2})$/u.exec(line) ?? [];
  if (name === undefined || base64 === undefined) return undefined;
  // Base64 has spare bits that decoders ignore: accept only the exact spelling.
  const bytes = exactBase64(base64);
  if (bytes === undefined || bytes.length < 5) return undefined;
  return { name, keyId: bytes.subarray(0, 4), bytes: bytes.subarray(4) };
}

/** Undefined for any but the canonical spelling. */
function exactBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}
