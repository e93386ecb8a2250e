import { createPublicKey } from 'node:crypto';
import { bundleFromJSON } from '@sigstore/bundle';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';

/** What the reference implementation of Sigstore says of a bundle, offline, with the key alone. */
export function acceptedBySigstore(bundle: string, pem: string): boolean {
  try {
    const trusted = toTrustMaterial(
      { mediaType: '', certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [] },
      () => ({ publicKey: createPublicKey(pem), validFor: () => true }),
    );
    const verifier = new Verifier(trusted, { ctlogThreshold: 0, tlogThreshold: 0, timestampThreshold: 0 });
    verifier.verify(toSignedEntity(bundleFromJSON(JSON.parse(bundle))));
    return true;
  } catch {
    return false;
  }
}
