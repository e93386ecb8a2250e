import type { Secret } from '../base/secret.ts';
import { checkItem, isStored, listed } from './items.ts';
import type { KeyStore } from './key-store.ts';

/**
 * A store for rehearsals and tests: same rules as the others, and everything is gone when the process ends.
 */
export function memoryStore(): KeyStore {
  const items = new Map<string, Secret>();
  return {
    kind: 'memory',
    description: 'memory of this process',
    probe: async () => {},
    put: async (account, secret) => {
      checkItem(account, secret);
      if (!isStored(account, secret, items.get(account))) items.set(account, secret);
    },
    exchange: async (account, secret) => {
      checkItem(account, secret);
      items.set(account, secret);
    },
    get: async (account) => items.get(account),
    accounts: async () => listed(items.keys()),
    remove: async (account) => items.delete(account),
  };
}
