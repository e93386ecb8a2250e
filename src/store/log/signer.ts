import { createPrivateKey, createPublicKey } from 'node:crypto';
import { LifeboatError } from '../../errors.ts';
import type { Secret } from '../../secret.ts';
import type { Head } from '../journal.ts';
import { installationOf, signCheckpoint } from './checkpoint.ts';
import { signNote } from './signed-note.ts';

export interface Signer {
  /** 16 hex digits that follow from the key; part of every checkpoint's origin. */
  readonly installation: string;
  /** PEM, SubjectPublicKeyInfo: what an auditor should have got from elsewhere. */
  readonly publicKey: string;
  /** The signed checkpoint of a head. */
  sign(head: Head): string;
  /**
   * A signed note of `lifeboat/<installation>/<subject>` and more lines. The subject begins with neither `run/` nor `instance/`: those are
   * checkpoints.
   */
  note(subject: string, lines: readonly string[]): string;
}

/** A signer from the installation's ed25519 key (PKCS#8 PEM). Throws `evidence.bad-key` for anything else. */
export function createSigner(privateKeyPem: Secret): Signer {
  const privateKey = parseKey(privateKeyPem);
  const publicKey = createPublicKey(privateKey);
  return {
    installation: installationOf(publicKey),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    sign: (head) => signCheckpoint(head, privateKey, publicKey),
    note: (subject, lines) => {
      const origin = `lifeboat/${installationOf(publicKey)}/${subject}`;
      return signNote(`${[origin, ...lines].join('\n')}\n`, origin, privateKey, publicKey);
    },
  };
}

function parseKey(pem: Secret) {
  try {
    const key = createPrivateKey(pem.reveal());
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // The parser's error may quote its input, so it is not kept as a cause.
  }
  throw new LifeboatError('evidence.bad-key', 'the signing key in the key store is not an ed25519 key', {
    hints: ['restore it from a backup of the key store, or remove it: a new one is made at the next run'],
  });
}
