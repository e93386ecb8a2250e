import { hash } from 'node:crypto';
import { fingerprintOfBlob } from './ssh-signature.ts';

/** Longer lines are not stored: no person would read them. */
const LINE_LIMIT = 8192;
/** How many lines of one key are examined, since each is tried separately. */
const LINES_LIMIT = 32;

const KEY_LIST = Buffer.from('SSHKRL\n\0');

/** Whether a file of revoked keys is in OpenSSH's binary format (KRL) rather than text. */
export function isKeyList(bytes: Buffer): boolean {
  return bytes.subarray(0, KEY_LIST.length).equals(KEY_LIST);
}

/** Whether a file begins with a byte order mark of UTF-8 or UTF-16, as written by Windows editors. */
export function hasMark(bytes: Buffer): boolean {
  return /^(?:efbbbf|fffe|feff)/.test(bytes.toString('hex', 0, 3));
}

/** Such a file as ssh-keygen reads it: UTF-8 without a mark. Any other is returned unchanged. */
export function withoutMark(bytes: Buffer): Buffer {
  if (!hasMark(bytes)) return bytes;
  const encoding = { 255: 'utf-16le', 254: 'utf-16be' }[bytes[0] ?? 0] ?? 'utf-8';
  return Buffer.from(new TextDecoder(encoding).decode(bytes));
}

/**
 * The lines of an allowed-signers file (ssh-keygen(1)) that may concern a public key, without line ends. For
 * a certificate these are the lines of authorities.
 */
export function linesOfKey(allowed: string, publicKey: string): readonly string[] {
  const [type = '', blob = ''] = publicKey.split(' ');
  const isCertificate = type.includes('-cert-');
  return signerLines(allowed)
    .filter((line) => (isCertificate ? /\scert-authority/i.test(line) : line.split(/\s+/).includes(blob)))
    .filter(({ length }) => length <= LINE_LIMIT)
    .slice(0, LINES_LIMIT);
}

/**
 * Every name that such a file lists a key under, for any purpose; also for a certificate's key. `key` is
 * `SHA256:...`, as printed by `ssh-keygen -l`.
 */
export function namesOfKey(allowed: string, key: string): readonly string[] {
  const isOfKey = (word: string) => word.startsWith('AAAA') && fingerprintOfBlob(word) === key;
  return signerLines(allowed)
    .filter((line) => line.split(/\s+/).some(isOfKey))
    .flatMap(namesIn);
}

/** The lines of such a file, or of revoked keys, trimmed and without comments. */
export function signerLines(allowed: string): readonly string[] {
  return allowed
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** The record's name for a line of such a file: the first 32 hex digits of its SHA-256. */
export function lineHash(line: string): string {
  return hash('sha256', line, 'hex').slice(0, 32);
}

/** The first field: names separated by commas, in quotes if one has a space. */
export function namesIn(line: string): readonly string[] {
  const [, quoted, bare = ''] = /^(?:"([^"]*)"|(\S+))/.exec(line) ?? [];
  return (quoted ?? bare).split(',').filter((name) => name !== '');
}
