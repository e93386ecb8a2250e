import type { LastSeen } from '../../../machines/parts/recovery-data.ts';
import { failureOf, LifeboatError } from '../../base/errors.ts';
import type { Failure } from '../../base/failure.ts';
import { holdersOf } from '../../compose/escrow.ts';
import { type CustodyState, keysOfInstance } from '../../compose/key-custody.ts';
import type { StoreContext } from '../../compose/store-of.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import type { EscrowConfig } from '../../config/loaded.ts';
import type { HolderState } from '../../keys/escrow-policy.ts';
import type { Keyring } from '../../keys/key-store.ts';
import type { JournalReader } from '../../store/journal.ts';
import type { KeyEpoch } from '../../store/projections/key-epochs.ts';
import { foldLedger, type Ledger, readLedger } from '../../store/projections/ledgers.ts';

export interface ListedKey extends Pick<KeyEpoch, 'fingerprint' | 'setAt' | 'endedAt' | 'provenAt'> {
  readonly instance: string;
  readonly held: boolean;
  readonly state: KeyEpoch['state'] | 'unknown';
  readonly custody: CustodyState;
  /** Backups of the last list that need it, by a verify, a fit or their dates. */
  readonly backups: number;
  /** Of these, how many were read to their end with it, and how many it fits by their first block. */
  readonly verified: number;
  readonly fitted: number;
  /** How many people could open a sealed copy of it. */
  readonly openers: number;
  /** Where its sealed copies are, by the names of the config. */
  readonly places: readonly string[];
  /** When it is to be destroyed. RFC 3339. */
  readonly endsAt?: string | undefined;
}

interface ListedKeys {
  readonly items: readonly ListedKey[];
  /** Under keys set by others, by instance. */
  readonly unknown: readonly { readonly instance: string; readonly backups: readonly number[] }[];
  readonly ledgers: ReadonlyMap<string, Ledger>;
  /** Missing if not wanted, or without a journal. */
  readonly holders?: readonly HolderState[] | undefined;
  /** Why the journal cannot be read: then no epochs are known. */
  readonly unread?: Failure | undefined;
}

interface ListOptions {
  readonly recall: (name: string) => Promise<LastSeen | undefined>;
  readonly escrow?: EscrowConfig | undefined;
}

/** The keys of these instances: those that are held, and those that only their ledgers know. */
export async function listKeys(
  context: StoreContext,
  keyring: Keyring,
  names: readonly string[],
  { recall, escrow }: ListOptions,
): Promise<ListedKeys> {
  const { ledgers, holders, unread } = await readRecord(context, names, escrow);
  const unknown: { instance: string; backups: readonly number[] }[] = [];
  const rows = names.map(async (instance) => {
    const [held, seen] = await Promise.all([keyring.list(instance), recall(instance)]);
    const ledger = ledgers.get(instance) ?? foldLedger([]);
    const keys = keysOfInstance({ ledger, held, listed: seen?.backups, fits: seen?.fits ?? [] });
    return keys.flatMap((key): ListedKey[] => {
      const { fingerprint, custody, known, record } = key;
      const ids = key.backups.map(({ id }) => id);
      if (fingerprint === undefined) {
        unknown.push({ instance, backups: ids });
        return [];
      }
      const { state = 'unknown', setAt, endedAt, provenAt } = known ?? {};
      const openers = record.escrowed?.recipients.length ?? 0;
      return [
        {
          ...{ instance, fingerprint, held: key.held, state, setAt, endedAt, provenAt },
          ...{ custody, backups: ids.length, openers },
          verified: key.backups.filter(({ by }) => by === 'verify').length,
          fitted: key.backups.filter(({ by }) => by === 'fit').length,
          places: (record.escrowed?.places ?? []).map(({ place }) => place),
          endsAt: record.scheduled?.due,
        },
      ];
    });
  });
  return { items: (await Promise.all(rows)).flat(), unknown, ledgers, holders, unread };
}

async function readRecord(
  context: StoreContext,
  names: readonly string[],
  escrow: EscrowConfig | undefined,
): Promise<Pick<ListedKeys, 'ledgers' | 'holders' | 'unread'>> {
  const ledgers = new Map<string, Ledger>();
  let journal: JournalReader | undefined;
  try {
    journal = await openJournalIfAny(context);
    if (journal === undefined) return { ledgers };
    for (const name of names) ledgers.set(name, await readLedger(journal, name));
    return { ledgers, holders: escrow && (await holdersOf(escrow, journal)) };
  } catch (thrown) {
    if (!(thrown instanceof LifeboatError) || !thrown.code.startsWith('journal.')) throw thrown;
    return { ledgers: new Map(), unread: failureOf(thrown) };
  } finally {
    await journal?.close();
  }
}
