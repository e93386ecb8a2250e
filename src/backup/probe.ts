import { createDecipheriv } from 'node:crypto';
import { LifeboatError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import type { KeyProfile, ProbeResult } from './backup-file.ts';
import { beginningOf, SALTED } from './beginning.ts';
import { deriveKey, PROFILES } from './derive-key.ts';
import { looksLikeGzip } from './gzip-header.ts';
import { backupProblem } from './problem.ts';

/** Header and salt. */
export const HEADER_BYTES = 16;

/** How much of a backup `probe` needs: the header, the salt and the first cipher block. */
export const PROBE_BYTES = 32;

export const BLOCK_BYTES = 16;

/**
 * Says whether a key opens a backup, from its first 32 bytes: the first block must decrypt to a gzip header
 * (RFC 1952: magic, method, no reserved flag), which one wrong key in 134 million does. Padding is not looked
 * at: one wrong key in 256 has it.
 *
 * Without `profile` all three are tried. Throws `backup.truncated` when fewer than 32 bytes of a backup are
 * given, and `backup.no-md5` when MD5 is refused here and no other profile fits.
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
      // The key may still fit in another profile; only when none does is the refusal the answer.
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
