import { Secret } from '../base/secret.ts';
import { type KeyStore, RESERVED_ACCOUNT_PREFIX } from './key-store.ts';
import { makeOnce } from './keyring.ts';

const IDENTITY = `${RESERVED_ACCOUNT_PREFIX}age-identity`;

/** `recipient`: what others seal to. */
export interface OwnIdentity {
  readonly identity: Secret;
  readonly recipient: string;
}

/** Undefined if the store has none. Creates nothing. */
export async function identityIn(store: KeyStore): Promise<OwnIdentity | undefined> {
  const identity = await store.get(IDENTITY);
  return identity === undefined ? undefined : { identity, recipient: await recipientOf(identity) };
}

/** Created if the store has none: X25519, or hybrid with ML-KEM-768. Never replaced. */
export async function makeIdentity(
  store: KeyStore,
  kind: 'x25519' | 'hybrid' = 'x25519',
): Promise<OwnIdentity> {
  const { generateHybridIdentity, generateX25519Identity } = await import('age-encryption');
  const made = new Secret(await (kind === 'hybrid' ? generateHybridIdentity() : generateX25519Identity()));
  const identity = await makeOnce(store, IDENTITY, () => made);
  return { identity, recipient: await recipientOf(identity) };
}

/** For `KeyStore.putAll`: an identity from another key store. */
export function identityItem(identity: Secret): ReadonlyMap<string, Secret> {
  return new Map([[IDENTITY, identity]]);
}

/** A new X25519 identity; not stored. */
export async function newIdentity(): Promise<Secret> {
  const { generateX25519Identity } = await import('age-encryption');
  return new Secret(await generateX25519Identity());
}

export async function recipientOf(identity: Secret): Promise<string> {
  const { identityToRecipient } = await import('age-encryption');
  return identityToRecipient(identity.reveal());
}

/** From a file as `age-keygen` writes it; ignores comments. */
export function identitiesIn(text: string): readonly Secret[] {
  const lines = text.split(/\r?\n/u).map((line) => line.trim());
  return lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => new Secret(line));
}
