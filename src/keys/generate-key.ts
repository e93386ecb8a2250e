import { hash, randomBytes } from 'node:crypto';
import { Secret } from '../base/secret.ts';

/**
 * A new encryption key: 32 random bytes as base64url, 43 ASCII characters. No quote, space or line end is in
 * it, so that it survives shells and `openssl enc -pass file:`. Callers compare its length with the
 * instance's `min_encryption_key_length`.
 */
export function generateKey(): Secret {
  return new Secret(randomBytes(32).toString('base64url'));
}

/**
 * By what a generated key is known again by anybody who holds it, whatever their key store calls it: 16 hex
 * digits of a SHA-256. Nothing can be learned from it about 32 random bytes; of a key that a person chose, it
 * must not be written down.
 */
export function checkOfGenerated(key: Secret): string {
  return hash('sha256', `lifeboat key\n${key.reveal()}`, 'hex').slice(0, 16);
}
