import { Secret } from '../../src/base/secret.ts';

/** The passphrase of all test backups: spaces, quotes and non-ASCII letters must reach openssl intact. */
export const KEY = new Secret('correct horse "battery" staple, später');

/** The same bytes on every run, about as compressible as text for a small `alphabet`. */
export function noise(length: number, seed = 1, alphabet = 256): Buffer {
  const bytes = Buffer.alloc(length);
  let state = seed;
  for (let at = 0; at < length; at++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[at] = (state >>> 8) % alphabet;
  }
  return bytes;
}
