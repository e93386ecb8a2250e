import { createPrivateKey, createPublicKey } from 'node:crypto';
import { LifeboatError } from '../../base/errors.ts';
import type { Secret } from '../../base/secret.ts';
import {
  type Checkpoint,
  checkpointText,
  installationOf,
  rawPublicKey,
  signNote,
  textOf,
} from './checkpoint.ts';

/** Signs for one installation. The private key stays inside. */
export interface Signer {
  /** 16 hex digits that follow from the key. */
  readonly installation: string;
  /** PEM, SubjectPublicKeyInfo; an auditor should get it through another channel. */
  readonly publicKey: string;
  /** The signed note of a checkpoint; the key's name is the origin. */
  sign(checkpoint: Checkpoint): string;
  /**
   * A signed note of any other text that ends in a line feed. The name has no space and no plus, and is not
   * the origin of a log.
   */
  note(text: string, name: string): string;
  /**
   * Whether this signer recently made this note under that name, so that its signature needs no verification.
   */
  hasMade(note: string, name: string): boolean;
}

/** How many notes a signer remembers: a writer meets its own again in the next append or checkpoint. */
const REMEMBERED = 100;

/** A signer from the installation's ed25519 key (PKCS#8 PEM). Throws `evidence.bad-key` for anything else. */
export function createSigner(privateKeyPem: Secret): Signer {
  const privateKey = parseKey(privateKeyPem);
  const publicKey = createPublicKey(privateKey);
  const raw = rawPublicKey(publicKey);
  const made = new Map<string, string>();
  const nameOf = (text: string, name: string) => `${name}\n${text}`;
  const note = (text: string, name: string): string => {
    // Without armed calls, a checkpoint is identical to the head that the append before it signed.
    const signed = made.get(nameOf(text, name)) ?? signNote(text, name, privateKey, raw);
    made.set(nameOf(text, name), signed);
    if (made.size > REMEMBERED) made.delete(made.keys().next().value ?? '');
    return signed;
  };
  return {
    installation: installationOf(publicKey),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    sign: (checkpoint) => note(checkpointText(checkpoint), checkpoint.origin),
    note,
    hasMade: (signed, name) => made.get(nameOf(textOf(signed) ?? '', name)) === signed,
  };
}

function parseKey(pem: Secret) {
  try {
    const key = createPrivateKey(pem.reveal());
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // The parser's error may quote its input, so it must not become the cause.
  }
  throw new LifeboatError('evidence.bad-key', 'the signing key in the key store is not an ed25519 key', {
    hints: ['restore it from a backup of the key store, or remove it: a new one is made at the next run'],
  });
}
