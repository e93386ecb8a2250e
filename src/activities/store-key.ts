import { generateKey } from '../keys/generate-key.ts';
import type { ActivityOf } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { because, no, ok } from './results.ts';

/**
 * Puts the new key into the key store; nothing is overwritten. If the process dies inside, a generated key
 * may rest there unused, and another one is generated; a key that was entered has to be entered again.
 */
export function storeKey(deps: ActivityDeps): ActivityOf<'storeKey'> {
  return {
    kind: 'repeatable',
    async run({ origin, given, minLength }, { instance }) {
      try {
        const key =
          origin === 'generated' ? generateKey() : await entered(deps, instance, given?.fingerprint);
        if (key === undefined) {
          return no('key.not-in-hand', 'the key that was entered is no longer in memory and was not stored', {
            hints: ['try again and enter it once more; nothing was sent to the service'],
          });
        }
        if (key.length < minLength)
          return no(
            'key.too-short',
            `the key has ${key.length} characters, the service asks for ${minLength}`,
          );
        const fingerprint = await deps.keyring.add(instance, key);
        return ok({ fingerprint, length: key.length, origin, store: deps.keyring.store.description });
      } catch (thrown) {
        return because(thrown);
      }
    },
  };
}

async function entered(deps: ActivityDeps, instance: string, fingerprint: string | undefined) {
  if (fingerprint === undefined) return undefined;
  return deps.inHand(fingerprint) ?? (await deps.keyring.load(instance, fingerprint));
}
