import { generateKeyPairSync } from 'node:crypto';
import { writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { watchJournal } from '../../../src/audit/seal.ts';
import { Secret } from '../../../src/secret.ts';
import type { NewEntry } from '../../../src/store/journal.ts';
import { createSigner } from '../../../src/store/log/signer.ts';
import { openSqliteJournal } from '../../../src/store/sqlite-journal.ts';

/*
 * A process that writes a sealed journal as runs do: `writer.ts HOME SESSION…`, each session a number of appends between opening and
 * closing. It prints one line for each append, after it has resolved: the stored entries without their bodies. More than
 * 250 appends in one session make SQLite move its log into the database and begin the log anew.
 */
const [home = '', ...sessions] = process.argv.slice(2);
const { privateKey } = generateKeyPairSync('ed25519');
const signer = createSigner(new Secret(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()));

let number = 0;
for (const appends of sessions) {
  const journal = await openSqliteJournal({ home, by: 'writer' });
  const sealer = watchJournal(journal, signer, { home });
  const hold = await journal.hold('run/a');
  for (let left = Number(appends); left > 0; left -= 1) {
    number += 1;
    const written = await journal.append(entriesOf(number));
    const line = written.map(({ stream, seq, hash }) => ({ stream, seq, hash }));
    writeSync(1, `${JSON.stringify(line)}\n`);
    // The newest checkpoint is written in the next turn.
    await setImmediate();
    if (number % 40 === 0) await sealer.sealNow('run/a', 'armed');
  }
  hold.release();
  sealer.stop();
  await journal.close();
}

/** One entry or several, of one stream or two, small or over some pages. */
function entriesOf(count: number): NewEntry[] {
  const text = 'x'.repeat(count % 23 === 0 ? 9_000 : (count * 37) % 600);
  const run: NewEntry = { stream: 'run/a', type: 'note', body: { number: count, text } };
  const ledger: NewEntry = { stream: 'instance/orders', type: 'note', body: { number: count } };
  return [[run], [run, ledger], [run, run, ledger]][count % 3] ?? [run];
}
