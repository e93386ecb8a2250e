import process from 'node:process';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { note } from '../store/contract/store-under-test.ts';
import { freshSigner } from '../store/fresh-signer.ts';

/* Appends entries with a wake-up each until it is killed: `waking-writer.ts ADDRESS NAME`. Prints each. */
const [address = '', name = ''] = process.argv.slice(2);
const journal = await openPostgresStore({
  ...{ address, env: process.env, by: 'tester', signer: freshSigner(), projections: [] },
});
const stream = `run/${name}` as const;
const hold = await journal.hold(stream);
for (let nr = 0; ; nr += 1) {
  const text = `${name}-${nr}`;
  await journal.append([note(text, stream)], [hold], [{ run: text }]);
  process.stdout.write(`${text}\n`);
}
