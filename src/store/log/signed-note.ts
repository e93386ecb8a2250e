import { hash, type KeyObject, sign, verify } from 'node:crypto';

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

/** Larger notes are rejected. The specification asks for room for 16 signatures of up to 5 kB each. */
export const MAX_NOTE_BYTES = 128 * 1024;

/**
 * Signs a text with an ed25519 key, given its public half as 32 bytes. The text must end in a line feed; the
 * name has no space and no plus.
 */
export function signNote(text: string, name: string, privateKey: KeyObject, publicKey: Buffer): string {
  const signature = sign(null, Buffer.from(text), privateKey);
  const line = Buffer.concat([keyId(name, publicKey), signature]).toString('base64');
  return `${text}\n— ${name} ${line}\n`;
}

export type OpenedNote =
  | { readonly result: 'signed'; readonly text: string; readonly key: KeyObject }
  | { readonly result: 'unreadable' | 'unknown-key' | 'bad-signature' };

/**
 * The text of a note if one of the known keys signed it under this name, with the first such key. As the
 * specification requires, signatures of other names and unknown keys are ignored, and a wrong signature of a
 * known key invalidates the note. Never throws, whatever the text.
 */
export function openNote(note: string, name: string, knownKeys: readonly KeyObject[]): OpenedNote {
  const text = textOf(note);
  if (text === undefined) return { result: 'unreadable' };
  let opened: OpenedNote = { result: 'unknown-key' };
  for (const line of note.slice(text.length + 1, -1).split('\n')) {
    const signature = parseSignature(line);
    if (signature === undefined) return { result: 'unreadable' };
    if (signature.name !== name) continue;
    const keys = knownKeys.filter((key) => keyId(name, rawPublicKey(key)).equals(signature.keyId));
    const key = keys.find((known) => verify(null, Buffer.from(text), known, signature.bytes));
    if (keys.length > 0 && key === undefined) return { result: 'bad-signature' };
    if (key !== undefined && opened.result !== 'signed') opened = { result: 'signed', text, key };
  }
  return opened;
}

/** The text of a note, without checking its signatures; undefined if it is not a note. */
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

/** The 32 bytes of an ed25519 public key (RFC 8032). */
export function rawPublicKey(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
}

function parseSignature(line: string) {
  const [, name, base64] = /^— ([^\s\x85+]+) ([A-Za-z0-9+/]+={0,2})$/u.exec(line) ?? [];
  if (name === undefined || base64 === undefined) return undefined;
  // Base64 has spare bits that decoders ignore; accept only the one exact spelling.
  const bytes = exactBase64(base64);
  if (bytes === undefined || bytes.length < 5) return undefined;
  return { name, keyId: bytes.subarray(0, 4), bytes: bytes.subarray(4) };
}

/** The bytes of a base64 text; undefined for any but its canonical spelling. */
export function exactBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}
