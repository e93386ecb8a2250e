import { EXIT, LifeboatError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import type { Keyring } from '../keys/key-store.ts';
import { checkOfGenerated } from '../keys/keyring.ts';
import type { JournalReader } from '../store/journal.ts';
import { readKeyFact } from '../store/projections/key-epochs.ts';

/**
 * Stores a key under a fingerprint of another key store. Rejects with `keys.other` (exit 2) if its length
 * differs, or for a generated key its value. A key that a person chose cannot be checked further.
 */
export async function adoptKey(
  { journal, keyring }: { readonly journal: Pick<JournalReader, 'read'>; readonly keyring: Keyring },
  instance: string,
  fingerprint: string,
  key: Secret,
): Promise<void> {
  for (const entry of await journal.read(`instance/${instance}`)) {
    const fact = readKeyFact(entry);
    if (fact?.type !== 'key.pending' || fact.body.fingerprint !== fingerprint) continue;
    const { length, check } = fact.body;
    if (key.length !== length)
      throw other(fingerprint, `that one has ${length} characters, and this one ${key.length}`);
    if (check !== undefined && check !== checkOfGenerated(key))
      throw other(fingerprint, 'that one was generated, and is a different one');
  }
  await keyring.adopt(instance, fingerprint, key);
}

function other(fingerprint: string, why: string): LifeboatError {
  return new LifeboatError('keys.other', `this is not key ${fingerprint}: ${why}`, {
    hints: ['nothing was stored and nothing was sent'],
    exitCode: EXIT.usage,
  });
}
