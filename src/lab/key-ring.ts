import { createHash, randomBytes } from 'node:crypto';
import { Secret } from '../base/secret.ts';

/** The lab operator's requirements for a user's key. */
export const MIN_KEY_LENGTH = 16;

/** The current key. Without a user's key the Backup Manager uses its own, which is never disclosed. */
export interface KeyRing {
  readonly generated: Secret;
  user: Secret | undefined;
}

/** 32 random bytes in base64url: 43 characters that no shell touches. */
export function newKey(): Secret {
  return new Secret(randomBytes(32).toString('base64url'));
}

/** Makes a key recognisable in the ledger. */
export function keyMark(key: Secret): string {
  return `sha256:${createHash('sha256').update(key.reveal()).digest('hex').slice(0, 12)}`;
}
