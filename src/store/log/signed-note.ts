import { hash, type KeyObject, sign, verify } from 'node:crypto';

/*
 * The signed note of C2SP (c2sp.org/signed-note): a text that ends in a line feed, an empty line, then signature lines
 * `— <key name> <base64 of key id and signature>`. The signature is over the text with its last line feed.
 */

/** Larger notes are not read. The specification asks for room for 16 signatures, of up to 5 kB each. */
export const MAX_NOTE_BYTES = 128 * 1024;

const ED25519 = 0x01;

/** Signs a text with an ed25519 key. The text must end in a line feed; the name holds no space and no plus. */
export function signNote(text: string, name: string, privateKey: KeyObject, publicKey: KeyObject): string {
  const signature = sign(null, Buffer.from(text), privateKey);
  const line = Buffer.concat([keyId(name, rawPublicKey(publicKey)), signature]).toString('base64');
  return `${text}\n— ${name} ${line}\n`;
}

export type OpenedNote =
  | { readonly result: 'signed'; readonly text: string; readonly name: string; readonly key: KeyObject }
  | { readonly result: 'unreadable' | 'unknown-key' | 'bad-signature' };

/**
 * The text of a note when one of the known keys signed it. As the specification asks: signatures of unknown keys are passed
 * over, one known key whose signature is wrong spoils the note.
 */
export function openNote(note: string, knownKeys: readonly KeyObject[]): OpenedNote {
  const end = note.lastIndexOf('\n\n');
  if (end < 1 || !note.endsWith('\n') || note.length > MAX_NOTE_BYTES) return { result: 'unreadable' };
  const text = note.slice(0, end + 1);
  let opened: OpenedNote = { result: 'unknown-key' };
  for (const line of note.slice(end + 2, -1).split('\n')) {
    const signature = parseSignature(line);
    if (signature === undefined) return { result: 'unreadable' };
    const key = knownKeys.find((known) => keyId(signature.name, rawPublicKey(known)).equals(signature.keyId));
    if (key === undefined) continue;
    if (!verify(null, Buffer.from(text), key, signature.bytes)) return { result: 'bad-signature' };
    if (opened.result !== 'signed') opened = { result: 'signed', text, name: signature.name, key };
  }
  return opened;
}

/** `SHA-256(name || 0x0A || 0x01 || the 32 bytes of the public key)`, the first four bytes. */
export function keyId(name: string, publicKey: Buffer): Buffer {
  const preimage = Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(ED25519), publicKey]);
  return hash('sha256', preimage, 'buffer').subarray(0, 4);
}

/** The 32 bytes of an ed25519 public key (RFC 8032). */
export function rawPublicKey(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
}

function parseSignature(line: string) {
  const [, name, base64] = /^— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})$/u.exec(line) ?? [];
  if (name === undefined || base64 === undefined) return undefined;
  const bytes = Buffer.from(base64, 'base64');
  // Base64 has spare bits that decoders ignore; only the one exact spelling counts.
  if (bytes.length < 5 || bytes.toString('base64') !== base64) return undefined;
  return { name, keyId: bytes.subarray(0, 4), bytes: bytes.subarray(4) };
}
