import { randomBytes } from 'node:crypto';
import { Secret } from '../secret.ts';

/**
 * A new encryption key: 32 random bytes as base64url, 43 ASCII characters. No quote, space or line end is in it, so that it survives
 * shells and `openssl enc -pass file:`. Callers compare its length with the instance's `min_encryption_key_length`.
 */
export function generateKey(): Secret {
  return new Secret(randomBytes(32).toString('base64url'));
}
