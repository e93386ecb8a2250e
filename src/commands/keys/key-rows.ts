import { failureOf, LifeboatError } from '../../base/errors.ts';
import type { Failure } from '../../base/failure.ts';
import type { StoreContext } from '../../compose/store-of.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import type { Keyring } from '../../keys/key-store.ts';
import type { JournalReader } from '../../store/journal.ts';
import type { KeyEpoch } from '../../store/projections/key-epochs.ts';
import { type Ledger, readLedger } from '../../store/projections/ledgers.ts';

/** A key of an instance by fingerprint, as the key store and the ledger know it. */
export interface ListedKey extends Pick<KeyEpoch, 'fingerprint' | 'setAt' | 'endedAt' | 'provenAt'> {
  readonly instance: string;
  readonly held: boolean;
  readonly state: KeyEpoch['state'] | 'unknown';
}

interface ListedKeys {
  readonly items: readonly ListedKey[];
  readonly ledgers: ReadonlyMap<string, Ledger>;
  /** Why the journal cannot be read: then no epochs are known. */
  readonly unread?: Failure | undefined;
}

/** The keys of these instances: those that are held, and those that only their ledgers know. */
export async function listKeys(
  context: StoreContext,
  keyring: Keyring,
  names: readonly string[],
): Promise<ListedKeys> {
  const { ledgers, unread } = await ledgersOf(context, names);
  const rows = names.map(async (instance) => {
    const held = new Set(await keyring.list(instance));
    const epochs = ledgers.get(instance)?.epochs ?? [];
    const known = new Map(epochs.map((epoch) => [epoch.fingerprint, epoch]));
    return [...new Set([...known.keys(), ...held])].map((fingerprint): ListedKey => {
      const { state = 'unknown', setAt, endedAt, provenAt } = known.get(fingerprint) ?? {};
      return { instance, fingerprint, held: held.has(fingerprint), state, setAt, endedAt, provenAt };
    });
  });
  return { items: (await Promise.all(rows)).flat(), ledgers, unread };
}

async function ledgersOf(
  context: StoreContext,
  names: readonly string[],
): Promise<Pick<ListedKeys, 'ledgers' | 'unread'>> {
  const ledgers = new Map<string, Ledger>();
  let journal: JournalReader | undefined;
  try {
    journal = await openJournalIfAny(context);
    if (journal !== undefined) for (const name of names) ledgers.set(name, await readLedger(journal, name));
    return { ledgers };
  } catch (thrown) {
    if (!(thrown instanceof LifeboatError) || !thrown.code.startsWith('journal.')) throw thrown;
    return { ledgers: new Map(), unread: failureOf(thrown) };
  } finally {
    await journal?.close();
  }
}
