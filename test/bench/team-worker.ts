import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { PROJECTIONS } from '../../src/store/projected.ts';
import { freshSigner } from '../store/fresh-signer.ts';

/*
 * One process of the team's bench: `team-worker.ts ADDRESS NAME`; then lines `append SECONDS` or `plain
 * SECONDS`.
 */
const [address = '', name = ''] = process.argv.slice(2);
const url = new URL(address.replace('///', '//none/').replace('@/', '@none/'));
const body = { text: 'x'.repeat(400) };
const options = { address, env: process.env, by: name, signer: freshSigner(), projections: PROJECTIONS };
const journal = await openPostgresStore(options);
const hold = await journal.hold(`run/${name}`);
const client = new Client({
  host: url.searchParams.get('host') ?? '',
  port: Number(url.searchParams.get('port')),
  user: 'postgres',
  database: url.pathname.slice(1),
});
await client.connect();
await journal.append([{ stream: hold.resource, type: 'note', body }], [hold]);

const tasks: Readonly<Record<string, () => Promise<unknown>>> = {
  append: () => journal.append([{ stream: hold.resource, type: 'note', body }], [hold]),
  plain: () => client.query({ name: 'plain', text: 'insert into plain values ($1)', values: [body.text] }),
};

process.stdout.write('[]\n');
for await (const line of createInterface({ input: process.stdin })) {
  const [what = '', seconds = ''] = line.split(' ');
  const times: number[] = [];
  for (const end = performance.now() + Number(seconds) * 1_000; performance.now() < end; ) {
    const start = performance.now();
    await tasks[what]?.();
    times.push(Math.round((performance.now() - start) * 100) / 100);
  }
  process.stdout.write(`${JSON.stringify(times)}\n`);
}
await client.end();
await hold.release();
await journal.close();
