import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import type { Binding, InstanceData } from '../../../src/lab/data/instance-data.ts';
import { openLedger, testEngine, testInstance } from './helpers.ts';

const { engine } = await testEngine();

/** Connects as the application would. */
async function connect({ user, password, database, socketFolder }: Binding): Promise<Client> {
  const client = new Client({ host: socketFolder, user, password: password.reveal(), database });
  // A connection that the server cuts.
  client.on('error', () => undefined);
  onTestFinished(() => client.end().catch(() => undefined));
  await client.connect();
  return client;
}

async function usersOf(data: InstanceData): Promise<string[]> {
  const rows = await data.query<{ name: string }>(
    "select rolname as name from pg_roles where rolname ~ '^app_'",
  );
  return rows.map(({ name }) => name);
}

test('a bound application reads and writes, needs its password, and is no superuser', async () => {
  const { data } = await testInstance(engine);
  await openLedger(data);
  const [one, other] = await Promise.all([data.bind(), data.bind()]);
  expect(one.user).not.toBe(other.user);
  const client = await connect(one);
  await client.query("insert into ledger values (1, 'by the application')");
  await client.query("update ledger set note = 'changed'");
  await data.query('create table later (id int generated always as identity, note text)');
  await client.query("insert into later (note) values ('a table from after the binding')");
  expect((await client.query('select note from ledger')).rows).toEqual([{ note: 'changed' }]);
  await expect(client.query("alter system set fsync = 'off'")).rejects.toThrow(/permission denied/);
  await expect(connect({ ...one, password: other.password })).rejects.toThrow(
    /password authentication failed/,
  );
});

test('what an application created stays when it is unbound, and belongs to the next', async () => {
  const { data } = await testInstance(engine);
  const binding = await data.bind();
  const client = await connect(binding);
  await client.query('create table made (id int)');
  await client.query('reset role');
  await client.query('create table own (id int); insert into own values (7)');
  await data.unbind(binding.user);
  expect(await usersOf(data)).toEqual([]);
  await expect(client.query('select 1')).rejects.toThrow();
  await expect(connect(binding)).rejects.toThrow();
  const next = await connect(await data.bind());
  await next.query('alter table made add column note text');
  expect((await next.query('select * from own')).rows).toEqual([{ id: 7 }]);
  await next.query('drop table own');
  await data.unbind(binding.user);
  await data.unbind('postgres');
  expect(await data.query('select 1 as one')).toEqual([{ one: 1 }]);
});

test('after a restore of any kind the old binding opens nothing, and a new one does', async () => {
  const { data, backUp, open } = await testInstance(engine);
  await openLedger(data);
  const source = await testInstance(engine, { archive: true, name: 'source' });
  await openLedger(source.data);
  const foreign = await source.data.bind();
  await source.backUp('foreign');
  const first = await data.bind();
  await backUp('one');
  const range = await data.range();
  const restores = [
    () => data.restoreBackup(open('one'), 'own'),
    () => data.restoreTo(range?.end ?? new Date(0), open),
    () => data.restoreBackup(source.open('foreign'), 'other'),
  ];
  let binding = first;
  for (const restore of restores) {
    const client = await connect(binding);
    await restore();
    await expect(client.query('select 1')).rejects.toThrow();
    await expect(connect(binding)).rejects.toThrow(/password authentication failed/);
    await expect(connect(first)).rejects.toThrow(/password authentication failed/);
    await data.unbind(binding.user);
    binding = await data.bind();
    const rebound = await connect(binding);
    await rebound.query("insert into ledger values (1, 'rebound')");
  }
  // A binding of the source does not open the instance that its backup went to.
  const there = { ...foreign, socketFolder: data.socketFolder };
  await expect(connect(there)).rejects.toThrow(/password authentication failed/);
  await connect(foreign);
  // A restart is no restore.
  await data.stop();
  await data.start();
  await connect(binding);
});
