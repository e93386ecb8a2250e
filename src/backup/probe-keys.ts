import type { Secret } from '../base/secret.ts';
import type { KeyProfile } from './backup-file.ts';
import { PROFILES } from './derive-key.ts';
import { probe } from './probe.ts';

/** A key that may open a backup, by its fingerprint. */
export interface Candidate {
  readonly fingerprint: string;
  readonly key: Secret;
}

export type ProbeKeysResult =
  | {
      readonly result: 'fits';
      readonly fingerprint: string;
      readonly profile: KeyProfile;
    }
  | { readonly result: 'wrong-key' }
  | { readonly result: 'not-a-backup'; readonly looksLike: string };

/**
 * Finds the key that opens a backup among several, from the first 32 bytes of the file. The fast profiles are
 * tried with every key before the slow one. `wrong-key` means that none of them fits. Throws what `probe`
 * throws.
 */
export function probeKeys(head: Uint8Array, candidates: readonly Candidate[]): ProbeKeysResult {
  for (const profile of PROFILES) {
    for (const { fingerprint, key } of candidates) {
      const found = probe(head, key, profile);
      if (found.result === 'not-a-backup') return found;
      if (found.result === 'fits') return { result: 'fits', fingerprint, profile };
    }
  }
  return { result: 'wrong-key' };
}
