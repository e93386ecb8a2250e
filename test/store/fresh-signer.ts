import { generateKeyPairSync } from 'node:crypto';
import { Secret } from '../../src/base/secret.ts';
import { createSigner, type Signer } from '../../src/store/log/signer.ts';

/** A signer with a fresh key: an installation of its own. */
export function freshSigner(): Signer {
  const { privateKey } = generateKeyPairSync('ed25519');
  return createSigner(new Secret(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()));
}
