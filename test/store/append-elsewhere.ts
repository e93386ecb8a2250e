import type { StreamName } from '../../src/store/journal.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { NOTES } from './contract/projection.ts';
import { freshSigner } from './fresh-signer.ts';

/* Another process that appends notes to a stream: `append-elsewhere.ts HOME-OR-ADDRESS STREAM COUNT`. */
const [where = '', stream = '', count = ''] = process.argv.slice(2);
const options = { by: 'somebody', signer: freshSigner(), projections: NOTES };
const journal = await (where.startsWith('postgres:')
  ? openPostgresStore({ address: where, env: process.env, ...options })
  : openSqliteStore({ home: where, ...options }));
const hold = await journal.hold(stream as StreamName);
for (let number = 1; number <= Number(count); number += 1)
  await journal.append([{ stream: hold.resource, type: 'note', body: { text: String(number) } }], [hold]);
await journal.close();
