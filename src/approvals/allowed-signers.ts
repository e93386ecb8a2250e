import { hash } from 'node:crypto';
import { fingerprintOfBlob, NAMESPACE } from './ssh-signature.ts';

/** Longer lines are not stored: no person would read them. */
const LINE_LIMIT = 8192;
/** Each line of a key is tried separately. */
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
 * The lines of an allowed-signers file (ssh-keygen(1)) that may concern a public key, without line ends; for
 * a certificate, those of authorities.
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
 * Every name that the file lists a key under, for any purpose; also for a certificate's key. `key` is
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

export interface Signer {
  readonly names: readonly string[];
  /** It allows the certificates of a key, not the key. */
  readonly isAuthority: boolean;
  /** `ssh-ed25519` or another, and the public key in base64. */
  readonly type: string;
  readonly blob: string;
  /** From when the line counts (`valid-after`), in milliseconds since 1970; undefined: always. */
  readonly sinceMs: number | undefined;
}

/** The lines of an allowed-signers file whose keys may approve at `now`. Pure. */
export function signersIn(text: string, now: Date): readonly Signer[] {
  return signerLines(text).flatMap((line) => {
    const entry = entryOf(line);
    if (entry === undefined || !evaluate(entry, now).canApprove) return [];
    const { names, isAuthority, type, blob, validAfter } = entry;
    return [{ names, isAuthority, type, blob, sinceMs: timeOf(validAfter) }];
  });
}

/** Whether a name matches one of these names or patterns of such a file. */
export function isAmong(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matches(pattern, name));
}

interface SignersFinding {
  /** Counted from one. */
  readonly line: number;
  /** The problem, to follow the line number. */
  readonly says: string;
}

/**
 * Unintended effects of the lines of an allowed-signers file (ssh-keygen(1)): keys for any purpose, patterns,
 * authorities without an end, and expired lines. `canApprove`: at least one line could approve at `now`.
 * Ignores lines that ssh-keygen would not read. Pure.
 */
export function evaluateSigners(
  text: string,
  now: Date,
): { readonly findings: readonly SignersFinding[]; readonly canApprove: boolean } {
  const lines = text.split('\n').flatMap((line, at) => {
    const entry = entryOf(line.trim());
    return entry === undefined ? [] : [{ line: at + 1, ...evaluate(entry, now) }];
  });
  return {
    findings: lines.flatMap(({ line, says }) => says.map((one) => ({ line, says: one }))),
    canApprove: lines.some((line) => line.canApprove),
  };
}

interface SignersEntry {
  readonly names: readonly string[];
  readonly isAuthority: boolean;
  readonly type: string;
  readonly blob: string;
  /** Undefined for every purpose. */
  readonly namespaces: readonly string[] | undefined;
  readonly validAfter: string | undefined;
  readonly validBefore: string | undefined;
}

function evaluate(entry: SignersEntry, now: Date): { says: readonly string[]; canApprove: boolean } {
  const { names, isAuthority, namespaces, validAfter, validBefore } = entry;
  const isForAll = namespaces === undefined || namespaces.some(matchesAny);
  // A line that is only for other purposes approves nothing, as intended.
  if (!isForAll && !namespaces.some((pattern) => matches(pattern, NAMESPACE)))
    return { says: [], canApprove: false };
  if (hasPassed(validBefore, now))
    return { says: ['has expired (valid-before): that key approves nothing any more'], canApprove: false };
  if (validAfter !== undefined && !hasPassed(validAfter, now))
    return { says: ['is not valid yet (valid-after): that key approves nothing now'], canApprove: false };
  if (!isAuthority && names.some(isPattern))
    return {
      says: ['has a wildcard for a name, and wildcard entries are ignored: that key approves nothing'],
      canApprove: false,
    };
  const says = [
    ...(isForAll ? ['names no namespaces, so a key that is listed for something else approves as well'] : []),
    ...(isAuthority && names.some(matchesAny)
      ? ['accepts any name: anyone with a certificate of that authority can approve']
      : []),
    ...(isAuthority && validBefore === undefined ? ['is an authority without an expiry (valid-before)'] : []),
  ];
  return { says, canApprove: true };
}

/** Principals, options, key type; undefined for a comment and for an invalid line. */
function entryOf(line: string): SignersEntry | undefined {
  if (line === '' || line.startsWith('#')) return undefined;
  const [, quoted, bare = '', options = '', type = '', blob = ''] =
    /^(?:"([^"]*)"|(\S+))\s+(?:((?:"[^"]*"|[^\s"])+)\s+)??((?:ssh|ecdsa|sk-ssh|sk-ecdsa)-\S+)\s+([A-Za-z0-9+/]+=*)/.exec(
      line,
    ) ?? [];
  const names = (quoted ?? bare).split(',').filter((name) => name !== '');
  if (names.length === 0) return undefined;
  const option = (name: string) => new RegExp(`(?:^|,)${name}="([^"]*)"`, 'i').exec(options)?.[1];
  return {
    names,
    ...{ type, blob },
    isAuthority: /(?:^|,)cert-authority(?:,|$)/i.test(options),
    namespaces: option('namespaces')?.split(','),
    validAfter: option('valid-after'),
    validBefore: option('valid-before'),
  };
}

function isPattern(name: string): boolean {
  return /[*?!]/.test(name);
}

/** A pattern that matches everything: `*`, `?*`, `*@*`. */
function matchesAny(pattern: string): boolean {
  return pattern.includes('*') && /^[*?@.]+$/.test(pattern);
}

/** OpenSSH's pattern matching: `*` for anything, `?` for one character. */
function matches(pattern: string, text: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`).test(text);
}

/** `text` is `20261121`, `202611210300` or with seconds, in this machine's zone unless a `Z` follows. */
function hasPassed(text: string | undefined, now: Date): boolean {
  const ms = timeOf(text);
  return ms !== undefined && ms <= now.getTime();
}

/** Milliseconds since 1970; undefined if it is not such a time. */
function timeOf(text: string | undefined): number | undefined {
  const found = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(Z?)$/i.exec(text ?? '');
  if (found === null) return undefined;
  const [year = 0, month = 1, day = 1, hour, minute, second] = found
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const parts = [year, month - 1, day, hour ?? 0, minute ?? 0, second ?? 0] as const;
  return found[7] === '' ? new Date(...parts).getTime() : Date.UTC(...parts);
}
