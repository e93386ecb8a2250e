import { access, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { type LocatedPostgres, locatePostgres } from '../../../src/lab/engine/locate-postgres.ts';
import { openLedger, summary, testEngine, testInstance } from '../data/helpers.ts';
import { run } from '../helpers.ts';

const PG15 = '/usr/lib/postgresql/15/bin';

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

test('the path of a place is below the folder of the engine and short, for any name', async () => {
  const { engine, folder } = await testEngine(onTestFinished);
  const names = ['../../outside', 'a name that is much too long for the path of a socket', 'same', 'same'];
  const places = await Promise.all(names.map((name) => engine.claim(name)));
  expect(places.map((place) => dirname(place.folder))).toEqual(names.map(() => folder));
  expect(new Set(places.map((place) => place.folder)).size).toBe(names.length);
  for (const place of places) expect(place.folder.length - folder.length).toBeLessThanOrEqual(14);
  await Promise.all(places.map((place) => place.remove()));
  expect(await Promise.all(places.map((place) => exists(place.folder)))).toEqual(names.map(() => false));
  await expect(places[0]?.makeFolder('late')).rejects.toThrow();
});

test('a server admits only the superuser at first, then others by password', async () => {
  const { engine } = await testEngine(onTestFinished);
  const place = await engine.claim('gate');
  const data = `${place.folder}/data`;
  await place.initialise(data);
  const server = await place.start(data, {});
  await server.query("create role guest login password 'open sesame'");
  const visit = async (password: string) => {
    const client = new Client({ host: place.folder, user: 'guest', database: 'postgres', password });
    try {
      await client.connect();
      return 'in';
    } catch (error) {
      return String(error);
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  expect(await visit('open sesame')).toMatch(/no pg_hba.conf entry/);
  await server.admit();
  expect(await visit('open sesame')).toBe('in');
  expect(await visit('wrong')).toMatch(/password authentication failed/);
  await server.kill();
  await place.start(data, {});
  expect(await visit('open sesame')).toMatch(/no pg_hba.conf entry/);
});

/** Asks for a connection as the superuser, and prints what the server says first: R lets in, E refuses. */
const KNOCK = `
const [path, ...more] = process.argv.slice(1);
const pairs = ['user', 'postgres', 'database', 'postgres', ...more, ''].join('\\0') + '\\0';
const head = Buffer.alloc(8);
head.writeInt32BE(8 + Buffer.byteLength(pairs), 0);
head.writeInt32BE(196608, 4);
const socket = require('node:net').connect(path, () => socket.write(Buffer.concat([head, Buffer.from(pairs)])));
socket.once('data', (data) => { process.stdout.write(data.toString('latin1')); socket.destroy(); });
`;

test.runIf(process.getuid?.() === 0)(
  'the user whom the databases run as is not their superuser, neither for queries nor for backups',
  async () => {
    const { engine } = await testEngine(onTestFinished);
    const { data } = await testInstance(engine);
    const socket = join(data.socketFolder, '.s.PGSQL.5432');
    const nobody = ['--reuid=nobody', '--regid=65534', '--clear-groups', '--'];
    const visit = async (under: readonly string[], ...more: readonly string[]) =>
      (await run('setpriv', [...under, process.execPath, '-e', KNOCK, socket, ...more])).stdout;
    for (const more of [[], ['replication', 'true']]) {
      expect(await visit(nobody, ...more)).toMatch(/^E.*Peer authentication failed for user "postgres"/s);
      expect(await visit(['--'], ...more)).toMatch(/^R/);
    }
    expect(await readFile(join(data.socketFolder, 'hba.conf'), 'utf8')).not.toContain('trust');
    expect(await readFile(join(data.dataFolder, 'pg_hba.conf'), 'utf8')).not.toMatch(/^[^#]*\btrust\b/m);
  },
);

const LOCATED: readonly LocatedPostgres[] = [
  locatePostgres(),
  ...((await exists(PG15)) ? [{ kind: 'programs', folder: PG15 } as const] : []),
];

test.for(LOCATED)('each database has its own identifier, and starts with it: $kind', async (located) => {
  const { engine } = await testEngine(onTestFinished, located);
  const began = Math.floor(Date.now() / 1000);
  const identifiers = ['one', 'other'].map(async (name) => {
    const place = await engine.claim(name);
    const data = join(place.folder, 'data');
    await place.initialise(data);
    const { query } = await place.start(data, {});
    const [row] = await query<{ id: string }>('select system_identifier as id from pg_control_system()');
    return BigInt(row?.id ?? 0);
  });
  const [one = 0n, other = 0n] = await Promise.all(identifiers);
  expect(one).not.toBe(other);
  for (const identifier of [one, other]) expect(Number(identifier >> 32n)).toBeGreaterThanOrEqual(began);
});

test.skipIf(!(await exists(PG15)))('another version of PostgreSQL does all of this: version 15', async () => {
  const { engine } = await testEngine(onTestFinished, { kind: 'programs', folder: PG15 });
  expect(engine.description).toMatch(/^PostgreSQL 15/);
  const { data, backUp, open } = await testInstance(engine);
  await openLedger(data);
  const tar = await backUp('one');
  await data.query("insert into ledger values (1, 'kept')");
  const range = await data.range();
  await data.query("insert into ledger values (2, 'too late')");
  await data.restoreTo(range?.end ?? new Date(0), open);
  expect(await summary(data)).toEqual({ rows: 1, last: 1 });
  await data.restoreBackup(open('one'), 'own');
  expect(await summary(data)).toEqual({ rows: 0, last: 0 });
  const scratch = await engine.restore('scratch', Readable.from([tar]));
  expect(await scratch.query('select count(*)::int as n from ledger')).toEqual([{ n: 0 }]);
  await data.bind();
});
