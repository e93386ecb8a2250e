import { join } from 'node:path';
import { Secret } from '../../src/base/secret.ts';
import { openKeyring } from '../../src/keys/keyring.ts';
import { openVault } from '../../src/keys/vault.ts';
import { createSigner, type Signer } from '../../src/store/log/signer.ts';
import { CANARIES } from './canaries.ts';

/**
 * The keys of a home, past every command. What is written is made with the least work: scrypt, made to be
 * slow, would be most of the time of a test.
 */
export async function openKeys(home: string, words: string = CANARIES.passphrase) {
  const passphrase = async () => new Secret(words);
  return openKeyring(await openVault({ path: join(home, 'vault.age'), passphrase, workFactor: 1 }));
}

/** A vault with the old key of `orders`, as an earlier day left it. */
export async function leaveOldKey(home: string): Promise<void> {
  const keyring = await openKeys(home);
  await keyring.signingKey();
  await keyring.add('orders', new Secret(CANARIES.oldKey));
}

/** A signer with the key of a home, to forge what its owner could write. */
export async function signerOf(home: string): Promise<Signer> {
  return createSigner(await (await openKeys(home)).signingKey());
}

/** The keys of `orders` in the vault, by fingerprint. */
export async function keysIn(home: string, instance = 'orders'): Promise<ReadonlyMap<string, string>> {
  const keyring = await openKeys(home);
  const keys = new Map<string, string>();
  for (const fingerprint of await keyring.list(instance)) {
    const key = await keyring.load(instance, fingerprint);
    if (key !== undefined) keys.set(fingerprint, key.reveal());
  }
  return keys;
}
