import type { ActivityOf } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { because, ok } from './results.ts';

/**
 * What the instance's ledger and the key store know for a recovery without the instance: the newest card, the
 * backups that were opened with a key, newest first, and the keys at hand. Nothing of the service is called:
 * it may be gone.
 */
export function readCard(deps: ActivityDeps): ActivityOf<'readCard'> {
  return {
    kind: 'read',
    async run() {
      try {
        // A keychain that is locked answers like one that is empty.
        await deps.keyring.store.probe();
        const keysHeld = [...(await deps.keyring.list(deps.name))];
        const { card, proven } = await deps.ledger();
        return ok({ ...(card === undefined ? {} : { card }), proven: [...proven], keysHeld });
      } catch (thrown) {
        return because(thrown);
      }
    },
  };
}
