import type { Secret } from '../base/secret.ts';
import type { Keyring } from './key-store.ts';

/** A key in hand, with the only form in which it may be named. */
export interface HeldKey {
  readonly fingerprint: string;
  readonly key: Secret;
}

/**
 * Every key that is held for an instance, sorted by fingerprint; `first` comes before the others when it is
 * held. A key that is removed meanwhile is left out. Rejects with what the key store rejects with.
 */
export async function heldKeys(keyring: Keyring, instance: string, first?: string): Promise<HeldKey[]> {
  const held = await keyring.list(instance);
  const order = [...new Set(first === undefined ? held : [first, ...held])];
  const loaded = await Promise.all(
    order.map(async (fingerprint) => ({ fingerprint, key: await keyring.load(instance, fingerprint) })),
  );
  return loaded.flatMap(({ fingerprint, key }) => (key === undefined ? [] : [{ fingerprint, key }]));
}
