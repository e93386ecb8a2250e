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

/** The private key stays inside. */
export interface Signer {
  /** Follows from the key. */
  readonly installation: string;
  /** PEM, SubjectPublicKeyInfo; an auditor should get it through another channel. */
  readonly publicKey: string;
  /** A signed note under the name of the origin. */
  sign(checkpoint: Checkpoint): string;
  /** Signs another text, which ends in a line feed; the name has no space or plus, and is no log's origin. */
  note(text: string, name: string): string;
  /** Whether this signer recently made this note under that name, so that verifying it is needless. */
  hasMade(note: string, name: string): boolean;
}

/** A writer meets its own notes again in the next append or checkpoint. */
const REMEMBERED = 100;

/** From an ed25519 key (PKCS#8 PEM). Throws `evidence.bad-key` for anything else. */
export function createSigner(privateKeyPem: Secret): Signer {
  const privateKey = parseKey(privateKeyPem);
  const publicKey = createPublicKey(privateKey);
  const raw = rawPublicKey(publicKey);
  const made = new Map<string, string>();
  const nameOf = (text: string, name: string) => `${name}\n${text}`;
  const note = (text: string, name: string): string => {
    // Without armed calls, a checkpoint is the head that the append before it signed.
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
