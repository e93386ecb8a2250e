import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchJournal } from '../../src/audit/seal.ts';
import { openSqliteJournal } from '../../src/store/sqlite-journal.ts';
import { freshSigner } from './signing.ts';

export interface Victim {
  readonly home: string;
  readonly publicKey: string;
  /** Its checkpoints, as paths below the home. */
  readonly notes: readonly string[];
  remove(): void;
}

/** A closed journal of two streams, sealed to the last entry, whose public key is known elsewhere. */
export async function sealedVictim(): Promise<Victim> {
  const home = mkdtempSync(join(tmpdir(), 'lifeboat-victim-'));
  const signer = freshSigner();
  const journal = await openSqliteJournal({ home, by: 'tester' });
  const sealer = watchJournal(journal, signer, { home });
  for (let number = 1; number <= 24; number += 1) {
    await journal.append([
      { stream: 'run/a', type: 'note', body: { number, text: 'é and ü'.repeat(number % 7) } },
      { stream: 'instance/orders', type: 'key.set', body: { fingerprint: '0a1b2c3d4e5f', run: 'a', number } },
    ]);
  }
  await sealer.sealNow('run/a', 'closed');
  sealer.stop();
  await journal.close();
  const notes = readdirSync(join(home, 'checkpoints'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.note'))
    .map((name) => join('checkpoints', name));
  return {
    home,
    publicKey: signer.publicKey,
    notes,
    remove: () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }),
  };
}
