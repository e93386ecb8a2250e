import type { Failure } from '../base/failure.ts';
import { show } from '../base/text.ts';
import type { Keyring } from '../keys/key-store.ts';

/**
 * The failure if no key of an instance is held here, so that its backup could not be opened; undefined if one
 * is. The service never returns a key, and accepts one only for future backups. Rejects with the key store's
 * errors.
 */
export async function lackOfKey(keyring: Keyring, instance: string): Promise<Failure | undefined> {
  if ((await keyring.list(instance)).length > 0) return undefined;
  const name = show(instance, 80);
  return {
    code: 'backup.no-key',
    shortMessage: `no key of ${name} is held in ${keyring.store.description}: its backup could not be opened`,
    hints: [
      `if ${name} has a key, store it: lifeboat keys add ${name}`,
      `if it has none, set one first: lifeboat backup-config set --instance ${name} --new-key`,
      'beside an open run, add --anyway REASON to it; no backup was asked for',
    ],
    evidence: {},
  };
}
