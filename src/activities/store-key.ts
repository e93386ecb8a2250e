import { checkOfGenerated, generateKey } from '../keys/generate-key.ts';
import type { ActivityOf } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { no, ok, readVerb, repeatableVerb } from './results.ts';

/**
 * Puts the new key into the key store; nothing is overwritten. If the process dies inside, a generated key
 * may rest there unused, and another one is generated; a key that was entered has to be entered again.
 */
export function storeKey(deps: ActivityDeps): ActivityOf<'storeKey'> {
  return repeatableVerb(async ({ origin, given, minLength }, { instance }) => {
    const key = origin === 'generated' ? generateKey() : await entered(deps, instance, given?.fingerprint);
    if (key === undefined) {
      return no('key.not-in-hand', 'the key that was entered is no longer in memory and was not stored', {
        hints: ['try again and enter it once more; nothing was sent to the service'],
      });
    }
    if (key.length < minLength)
      return no('key.too-short', `the key has ${key.length} characters, the service asks for ${minLength}`);
    const fingerprint = await deps.keyring.add(instance, key);
    return ok({ fingerprint, length: key.length, origin, store: deps.keyring.store.description });
  });
}

async function entered(deps: ActivityDeps, instance: string, fingerprint: string | undefined) {
  if (fingerprint === undefined) return undefined;
  return deps.inHand(fingerprint) ?? (await deps.keyring.load(instance, fingerprint));
}

/**
 * Reads the stored key back and compares it by its fingerprint. Only then the ledger learns of it
 * (`key.pending`), in the same transaction, before any byte of it is sent.
 */
export function readBackKey(deps: ActivityDeps): ActivityOf<'readBackKey'> {
  return readVerb(async ({ key }, { instance, runId }) => {
    const found = await deps.keyring.load(instance, key.fingerprint);
    if (found === undefined) {
      return no('key.not-stored', `key ${key.fingerprint} is not in ${deps.keyring.store.description}`, {
        hints: ['nothing was sent to the service; try again'],
      });
    }
    if (found.length !== key.length || (await deps.keyring.fingerprint(found)) !== key.fingerprint) {
      return no(
        'key.damaged',
        `key ${key.fingerprint} comes back changed from ${deps.keyring.store.description}`,
        {
          hints: [
            'nothing was sent to the service; the key store is not to be trusted: run `lifeboat doctor`',
          ],
        },
      );
    }
    const { fingerprint, length, origin, store } = key;
    const check = origin === 'generated' ? { check: checkOfGenerated(found) } : {};
    const body = { fingerprint, run: runId, origin, store, length, ...check };
    return ok(key, [{ type: 'key.pending', body }]);
  });
}
