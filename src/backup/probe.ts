import { createDecipheriv } from 'node:crypto';
import { LifeboatError } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import { backupProblem, type KeyProfile, type ProbeResult } from './backup-file.ts';
import { beginningOf, HEADER_BYTES, PROBE_BYTES, SALTED } from './beginning.ts';
import { deriveKey, PROFILES } from './derive-key.ts';
import { looksLikeGzip } from './gunzip.ts';

/**
 * Decides from 32 bytes whether a key opens a backup: the first block must decrypt to a gzip header (RFC
 * 1952: magic, method, no reserved flag), as with one wrong key in 134 million. Padding is ignored: one wrong
 * key in 256 produces it. Without `profile` tries all. Throws `backup.truncated` for fewer than 32 bytes,
 * `backup.no-md5` if MD5 is refused and nothing else fits.
 */
export function probe(head: Uint8Array, key: Secret, profile?: KeyProfile): ProbeResult {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  const looksLike = beginningOf(bytes);
  if (looksLike !== 'encrypted') return { result: 'not-a-backup', looksLike };
  if (bytes.length < PROBE_BYTES) throw tooShort(bytes.length);
  const fitting = findProfile(bytes, key, profile === undefined ? PROFILES : [profile]);
  return fitting === undefined ? { result: 'wrong-key' } : { result: 'fits', profile: fitting };
}

function tooShort(length: number): LifeboatError {
  return backupProblem('truncated', `the file ends at byte ${length}, inside its first ${PROBE_BYTES} bytes`);
}

function findProfile(head: Buffer, key: Secret, profiles: readonly KeyProfile[]): KeyProfile | undefined {
  let refused: LifeboatError | undefined;
  for (const profile of profiles) {
    try {
      if (firstBlockIsGzip(head, key, profile)) return profile;
    } catch (error) {
      // The key may still fit in another profile; the refusal is the answer only if none does.
      if (!(error instanceof LifeboatError)) throw error;
      refused = error;
    }
  }
  if (refused !== undefined) throw refused;
  return undefined;
}

function firstBlockIsGzip(head: Buffer, passphrase: Secret, profile: KeyProfile): boolean {
  const { key, iv } = deriveKey(passphrase, head.subarray(SALTED.length, HEADER_BYTES), profile);
  const decipher = createDecipheriv('aes-256-cbc', key, iv).setAutoPadding(false);
  return looksLikeGzip(decipher.update(head.subarray(HEADER_BYTES, PROBE_BYTES)));
}

export interface Candidate {
  readonly fingerprint: string;
  readonly key: Secret;
}

type ProbeKeysResult =
  | {
      readonly result: 'fits';
      readonly fingerprint: string;
      readonly profile: KeyProfile;
    }
  | { readonly result: 'wrong-key' }
  | { readonly result: 'not-a-backup'; readonly looksLike: string };

/** Tries the fast profiles with every key before the slow one. Throws the errors of `probe`. */
export function probeKeys(
  head: Uint8Array,
  candidates: readonly Candidate[],
  profiles: readonly KeyProfile[] = PROFILES,
): ProbeKeysResult {
  for (const profile of profiles) {
    for (const { fingerprint, key } of candidates) {
      const found = probe(head, key, profile);
      if (found.result === 'not-a-backup') return found;
      if (found.result === 'fits') return { result: 'fits', fingerprint, profile };
    }
  }
  return { result: 'wrong-key' };
}

/** Ends that tools leave on a key in a file, with their names. */
const ENDS: readonly (readonly [string, string])[] = [
  ['\r', 'a carriage return'],
  ['\n', 'a line end'],
  ['\r\n', 'a carriage return and a line end'],
];

/**
 * Which key fits with another line end: `openssl -pass file:` strips only the line feed, so a Windows
 * carriage return belongs to the key. `head` must be of an encrypted backup. Throws the errors of `probe`.
 */
export function nearMiss(head: Uint8Array, candidates: readonly Candidate[]): string | undefined {
  const variants = candidates.flatMap(({ fingerprint, key }) => {
    const text = key.reveal();
    const bare = text.replace(/[\r\n]+$/u, '');
    const named = `key ${show(fingerprint, 40)}`;
    return [
      ...(bare === text || bare === '' ? [] : [{ says: `${named} without the line end`, key: bare }]),
      ...ENDS.filter(([end]) => bare + end !== text).map(([end, words]) => ({
        says: `${named} with ${words}`,
        key: bare + end,
      })),
    ].map(({ says, key: other }) => ({ fingerprint: says, key: new Secret(other) }));
  });
  const found = probeKeys(head, variants);
  return found.result === 'fits' ? `${found.fingerprint} at its end opens it` : undefined;
}
