import { checkOfGenerated } from '../keys/generate-key.ts';
import type { ActivityOf } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { because, no, ok } from './results.ts';

/**
 * Reads the stored key back and compares it by its fingerprint. Only then the ledger learns of it
 * (`key.pending`), in the same transaction, before any byte of it is sent.
 */
export function readBackKey(deps: ActivityDeps): ActivityOf<'readBackKey'> {
  return {
    kind: 'read',
    async run({ key }, { instance, runId }) {
      try {
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
      } catch (thrown) {
        return because(thrown);
      }
    },
  };
}
