import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { PROJECTIONS } from '../../src/store/projected.ts';
import { freshSigner } from '../store/fresh-signer.ts';

/*
 * One process of the team's bench: `team-worker.ts ADDRESS NAME WRITERS`; then lines `append SECONDS` or
 * `plain SECONDS`, which all of its writers do at once. As in a worker, they share its journal.
 */
const [address = '', name = '', count = '1'] = process.argv.slice(2);
const url = new URL(address.replace('///', '//none/').replace('@/', '@none/'));
const body = { text: 'x'.repeat(400) };
const options = { address, env: process.env, by: name, signer: freshSigner(), projections: PROJECTIONS };
const journal = await openPostgresStore(options);
const plainOf = async () => {
  const client = new Client({
    host: url.searchParams.get('host') ?? '',
    port: Number(url.searchParams.get('port')),
    user: 'postgres',
    database: url.pathname.slice(1),
  });
  await client.connect();
  return client;
};
const writers = await Promise.all(
  Array.from({ length: Number(count) }, async (_, number) => {
    const hold = await journal.hold(`run/${name}-${number}`);
    await journal.append([{ stream: hold.resource, type: 'note', body }], [hold]);
    return { hold, client: await plainOf() };
  }),
);
type Writer = (typeof writers)[number];

const tasks: Readonly<Record<string, (writer: Writer) => Promise<unknown>>> = {
  append: ({ hold }) => journal.append([{ stream: hold.resource, type: 'note', body }], [hold]),
  plain: ({ client }) =>
    client.query({ name: 'plain', text: 'insert into plain values ($1)', values: [body.text] }),
};

process.stdout.write('[]\n');
for await (const line of createInterface({ input: process.stdin })) {
  const [what = '', seconds = ''] = line.split(' ');
  const end = performance.now() + Number(seconds) * 1_000;
  const timesOf = async (writer: Writer) => {
    const times: number[] = [];
    while (performance.now() < end) {
      const start = performance.now();
      await tasks[what]?.(writer);
      times.push(Math.round((performance.now() - start) * 100) / 100);
    }
    return times;
  };
  const times = (await Promise.all(writers.map(timesOf))).flat();
  process.stdout.write(`${JSON.stringify(times)}\n`);
}
for (const { hold, client } of writers) {
  await client.end();
  await hold.release();
}
await journal.close();
