import { createPublicKey, type KeyObject } from 'node:crypto';

/** The ed25519 keys in a text of one or more PEM blocks; blocks that hold none are passed over. */
export function parsePublicKeys(text: string): KeyObject[] {
  const blocks = text.match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/gu) ?? [];
  return blocks.flatMap((block) => {
    try {
      const key = createPublicKey(block);
      return key.asymmetricKeyType === 'ed25519' ? [key] : [];
    } catch {
      return [];
    }
  });
}
