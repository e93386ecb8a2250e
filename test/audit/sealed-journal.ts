import { type Sealer, watchJournal } from '../../src/audit/seal.ts';
import type { Journal, NewEntry } from '../../src/store/journal.ts';
import type { Signer } from '../../src/store/log/signer.ts';
import { openSqliteJournal } from '../../src/store/sqlite-journal.ts';
import { temporaryHome } from '../store/temporary-home.ts';
import { freshSigner } from './signing.ts';

export interface SealedJournal {
  readonly home: string;
  readonly signer: Signer;
  readonly journal: Journal;
  readonly sealer: Sealer;
  /** Flushes the checkpoints and closes the journal. */
  close(): Promise<void>;
}

/** A journal with a signer, open for writing. */
export async function openSealed(
  options: { home?: string; signer?: Signer; folders?: readonly string[] } = {},
): Promise<SealedJournal> {
  const { home = temporaryHome(), signer = freshSigner(), folders = [] } = options;
  const journal = await openSqliteJournal({ home, by: 'tester' });
  const sealer = watchJournal(journal, signer, { home, folders });
  return {
    home,
    signer,
    journal,
    sealer,
    async close() {
      sealer.stop();
      await journal.close();
    },
  };
}

/** A closed journal with `count` entries in each of two streams, all sealed. */
export async function sealedHome(count: number, folders: readonly string[] = []): Promise<SealedJournal> {
  const sealed = await openSealed({ folders });
  for (let number = 1; number <= count; number += 1) await sealed.journal.append(pair(number));
  await sealed.sealer.sealNow('run/a', 'closed');
  await sealed.close();
  return sealed;
}

const pair = (number: number): NewEntry[] => [
  { stream: 'run/a', type: 'note', body: { number, text: 'é and ü'.repeat(number % 7) } },
  { stream: 'instance/orders', type: 'key.set', body: { fingerprint: '0a1b2c3d4e5f', run: 'a', number } },
];
