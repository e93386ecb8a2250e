import type { StreamName } from '../../../src/store/journal.ts';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import { freshSigner } from '../fresh-signer.ts';

/*
 * A process that appends to a stream until it is ended: `writer-process.ts ADDRESS STREAM TTL`. Each line of
 * its output is JSON: `{held}`, then `{acknowledged: SEQ}` after each append, `{lost: CODE}` when it loses
 * its hold, `{refused: CODE}` when an append is refused.
 */
const [address = '', stream = '', ttl = ''] = process.argv.slice(2);
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
const journal = await openPostgresStore({
  ...{ address, env: process.env, by: 'writer', signer: freshSigner(), projections: [], ttl: Number(ttl) },
});
const hold = await journal.hold(stream as StreamName);
hold.lost.addEventListener('abort', () => say({ lost: hold.lost.reason.code, lasts: hold.lasts() }));
say({ held: hold.token });
try {
  for (let number = 1; ; number += 1) {
    const [entry] = await journal.append([{ stream: hold.resource, type: 'note', body: { number } }], [hold]);
    say({ acknowledged: entry?.seq });
  }
} catch (error) {
  say({ refused: (error as { code?: string }).code });
}
await journal.close();
