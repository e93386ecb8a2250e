import { createHash, pbkdf2Sync } from 'node:crypto';
import { LifeboatError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import type { KeyProfile } from './backup-file.ts';

/** Every profile, in the order of attempts: the service's own first, the slow one last. */
export const PROFILES: readonly KeyProfile[] = ['md5', 'sha256', 'pbkdf2'];

/** The input of AES-256-CBC: 32 bytes of key, 16 bytes of initialisation vector. */
export interface CipherKey {
  readonly key: Uint8Array;
  readonly iv: Uint8Array;
}

/**
 * Derives key and vector as `openssl enc` does (openssl-enc(1), EVP_BytesToKey(3)): passphrase as UTF-8, the
 * file's 8-byte salt. Takes microseconds, with `pbkdf2` about 20 ms. Throws `backup.no-md5` for `md5` where
 * OpenSSL refuses MD5 (FIPS mode).
 */
export function deriveKey(passphrase: Secret, salt: Uint8Array, profile: KeyProfile): CipherKey {
  const text = Buffer.from(passphrase.reveal(), 'utf8');
  const bytes =
    profile === 'pbkdf2'
      ? pbkdf2Sync(text, salt, PBKDF2_ITERATIONS, KEY_BYTES + IV_BYTES, 'sha256')
      : bytesToKey(text, salt, profile);
  return { key: bytes.subarray(0, KEY_BYTES), iv: bytes.subarray(KEY_BYTES, KEY_BYTES + IV_BYTES) };
}

const KEY_BYTES = 32;
const IV_BYTES = 16;

/** The default of `openssl enc -pbkdf2`; the number is not stored in the file. */
const PBKDF2_ITERATIONS = 10_000;

/** EVP_BytesToKey with one iteration: D1 = H(pass, salt), Dn = H(Dn-1, pass, salt), all joined. */
function bytesToKey(passphrase: Buffer, salt: Uint8Array, digest: 'md5' | 'sha256'): Buffer {
  let joined = Buffer.alloc(0);
  let last = Buffer.alloc(0);
  while (joined.length < KEY_BYTES + IV_BYTES) {
    last = hashOf(digest).update(last).update(passphrase).update(salt).digest();
    joined = Buffer.concat([joined, last]);
  }
  return joined;
}

function hashOf(digest: 'md5' | 'sha256') {
  try {
    return createHash(digest);
  } catch (cause) {
    throw new LifeboatError('backup.no-md5', `this host refuses ${digest}: its OpenSSL runs in FIPS mode`, {
      hints: ['open the backup on a host without FIPS mode: the service derives its keys with MD5'],
      cause,
    });
  }
}
