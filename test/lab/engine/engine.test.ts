import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { openLedger, summary, testEngine, testInstance } from '../data/helpers.ts';

const PG15 = '/usr/lib/postgresql/15/bin';

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

test('a place is inside the folder of the engine and short, whatever its name', async () => {
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

test('a server lets only the superuser in until it is told to admit others, and those by password', async () => {
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

test.skipIf(!(await exists(PG15)))('another PostgreSQL does the whole of it: version 15', async () => {
  process.env['LIFEBOAT_PGBIN'] = PG15;
  try {
    const { engine } = await testEngine(onTestFinished);
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
  } finally {
    delete process.env['LIFEBOAT_PGBIN'];
  }
});
