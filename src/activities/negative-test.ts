import { probe } from '../backup/probe.ts';
import { type HeldKey, heldKeys } from '../keys/held-keys.ts';
import type { ActivityOf } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { readHead } from './read-head.ts';
import { ok, readVerb } from './results.ts';

/**
 * Tries every other key held for the instance on the backup, in every key-derivation profile. None may open
 * it: otherwise the rotation rotated nothing. A key that another key store has named (`Keyring.adopt`) may be
 * held under this one's own name as well: that is no other key.
 */
export function negativeTest(deps: ActivityDeps): ActivityOf<'negativeTest'> {
  return readVerb(async ({ path, except }, { instance }) => {
    const head = await readHead(path);
    const held = await heldKeys(deps.keyring, instance);
    const tested = held.find(({ fingerprint }) => fingerprint === except);
    const ownName = tested && (await deps.keyring.fingerprint(tested.key));
    const others = held.filter(({ fingerprint }) => fingerprint !== except && fingerprint !== ownName);
    const opening = others.filter(({ key }) => probe(head, key).result === 'fits');
    return ok({ tested: others.map(fingerprintOf), opened: opening.map(fingerprintOf) });
  });
}

function fingerprintOf({ fingerprint }: HeldKey): string {
  return fingerprint;
}
