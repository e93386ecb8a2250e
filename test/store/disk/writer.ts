import { writeSync } from 'node:fs';
import type { NewEntry } from '../../../src/store/journal.ts';
import { homePlace } from '../../../src/store/log/places/folder-place.ts';
import { createSealer } from '../../../src/store/log/sealer.ts';
import { PROJECTIONS } from '../../../src/store/projected.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { freshSigner } from '../fresh-signer.ts';

/*
 * A process that writes a store with checkpoints as runs do: `writer.ts HOME SESSION…`, each session a number
 * of appends between opening and closing. It prints one line after each append resolved: the stored entries
 * without their bodies. More than 250 appends in one session make SQLite move its log into the database and
 * restart the log.
 */
const [home = '', ...sessions] = process.argv.slice(2);
const signer = freshSigner();

let number = 0;
for (const appends of sessions) {
  const journal = await openSqliteStore({ home, by: 'writer', signer, projections: PROJECTIONS });
  const sealer = createSealer(journal, { signer, places: [homePlace(home)] });
  const holds = [await journal.hold('run/a'), await journal.hold('instance/orders')];
  for (let left = Number(appends); left > 0; left -= 1) {
    number += 1;
    const written = await journal.append(entriesOf(number), holds);
    const line = written.map(({ stream, seq, hash }) => ({ stream, seq, hash }));
    writeSync(1, `${JSON.stringify(line)}\n`);
    if (number % 10 === 0) await sealer.sealNow();
  }
  await sealer.sealRest();
  await journal.close();
}

/** One entry or several, of one stream or two, small or spanning pages. */
function entriesOf(count: number): NewEntry[] {
  const text = 'x'.repeat(count % 23 === 0 ? 9_000 : (count * 37) % 600);
  const run: NewEntry = { stream: 'run/a', type: 'note', body: { number: count, text } };
  const ledger: NewEntry = { stream: 'instance/orders', type: 'note', body: { number: count } };
  return [[run], [run, ledger], [run, run, ledger]][count % 3] ?? [run];
}
