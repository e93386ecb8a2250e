import { Client } from 'pg';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { openPostgresForReading, openPostgresStore } from '../../../src/store/postgres/open.ts';
import { initPostgresStore, migratePostgresStore } from '../../../src/store/postgres/schema.ts';
import { startCluster } from '../../bench-kit/postgres.ts';
import { NOTES } from '../contract/projection.ts';
import { note } from '../contract/store-under-test.ts';
import { freshSigner } from '../fresh-signer.ts';
import { postgresStore } from './postgres-store.ts';

/* What `lifeboat store init` creates, and the rights to use it. */
const cluster = await startCluster();
afterAll(() => cluster.remove());

const env = process.env;
const TABLES = ['entries', 'leaves', 'heads', 'vouched'];

/** A new login over TCP with a password; a member of the team or not. */
async function login(isMember: boolean) {
  const name = `user_${Math.random().toString(36).slice(2)}`;
  await cluster.query(
    `create role ${name} login password 'open sesame' ${isMember ? 'in role lifeboat_member' : ''}`,
  );
  return {
    name,
    env: { PGPASSWORD: 'open sesame' },
    address: (database: string) => `postgres://${name}@127.0.0.1:${cluster.port}/${database}`,
  };
}

async function connected(name: string, database: string): Promise<Client> {
  const client = new Client({
    host: '127.0.0.1',
    port: cluster.port,
    user: name,
    password: 'open sesame',
    database,
  });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

describe('the schema', () => {
  test('can be created without the right to create roles, and says what another person still has to do', async () => {
    const database = await cluster.makeDatabase();
    const owner = await login(false);
    const init = () => initPostgresStore({ address: owner.address(database), env: owner.env });
    await expect(init()).rejects.toMatchObject({ code: 'journal.refused' });
    await cluster.query(`grant create on database ${database} to ${owner.name}`);
    // The first test of this cluster: the role does not exist yet.
    expect(await init()).toEqual({
      before: undefined,
      version: 2,
      role: 'missing',
      toDo: ['create role lifeboat_member nologin', 'then run `lifeboat store init` again'],
    });
    await cluster.query('create role lifeboat_member nologin');
    expect(await init()).toEqual({ before: 2, version: 2, role: 'there', toDo: [] });
  });

  test('is created once, by the first of several, and left alone afterwards', async () => {
    const address = cluster.address(await cluster.makeDatabase());
    const made = await Promise.all([1, 2, 3].map(() => initPostgresStore({ address, env })));
    expect(made.filter(({ before }) => before === undefined)).toHaveLength(1);
    expect(made[0]).toMatchObject({ version: 2, role: 'there', toDo: [] });
    expect(await initPostgresStore({ address, env })).toMatchObject({ before: 2 });
  });

  test('of an older lifeboat is migrated only by the command for it, once, with all its content', async () => {
    const { address, database, open } = await postgresStore(cluster);
    const journal = await open();
    await journal.append([note('one')], [await journal.hold('run/a')]);
    await journal.close();
    for (const signature of ['keep(text[], int[], bigint, json)', 'forget(text[], int[])', 'forget_older'])
      await cluster.query(`drop function lifeboat.${signature}`, database);
    await cluster.query('update lifeboat.store set version = 1', database);
    const refused = {
      code: 'journal.version',
      shortMessage: 'the store has version 1, this lifeboat knows 2',
      hints: [expect.anything(), expect.stringContaining('`lifeboat store migrate`')],
    };
    const reading = { address, env, projections: NOTES };
    const writing = { ...reading, by: 'x', signer: freshSigner() };
    await expect(openPostgresForReading(reading)).rejects.toMatchObject(refused);
    await expect(openPostgresStore(writing)).rejects.toMatchObject(refused);
    await expect(initPostgresStore({ address, env })).rejects.toMatchObject(refused);
    const [row] = await cluster.query<{ version: number }>('select version from lifeboat.store', database);
    expect(row).toEqual({ version: 1 });
    const migrated = await Promise.all([1, 2].map(() => migratePostgresStore({ address, env })));
    expect(migrated.map(({ before }) => before).toSorted()).toEqual([1, 2]);
    const reader = await openPostgresForReading(reading);
    onTestFinished(() => reader.close());
    expect(await reader.rows('notes')).toHaveLength(1);
  });

  test('that is not there is not migrated', async () => {
    const address = cluster.address(await cluster.makeDatabase());
    await expect(migratePostgresStore({ address, env })).rejects.toMatchObject({ code: 'journal.none' });
  });

  test('of a newer lifeboat is refused, by init, by migrate and when opened', async () => {
    const { address, database } = await postgresStore(cluster);
    await cluster.query('update lifeboat.store set version = 99', database);
    const refused = { code: 'journal.version', shortMessage: expect.stringContaining('99') };
    await expect(initPostgresStore({ address, env })).rejects.toMatchObject(refused);
    await expect(migratePostgresStore({ address, env })).rejects.toMatchObject(refused);
    await expect(openPostgresForReading({ address, env, projections: [] })).rejects.toMatchObject(refused);
  });

  test('is reported missing if it was never created, as is the database', async () => {
    const database = await cluster.makeDatabase();
    const open = (name: string) =>
      openPostgresForReading({ address: cluster.address(name), env, projections: [] });
    await expect(open(database)).rejects.toMatchObject({
      code: 'journal.none',
      hints: ['`lifeboat store init` makes one'],
    });
    await expect(open('nowhere')).rejects.toMatchObject({
      code: 'journal.none',
      shortMessage: expect.stringContaining('there is no database nowhere'),
      hints: ['check its name in the address of the store', expect.stringContaining('createdb')],
    });
  });
});

describe('the record', () => {
  async function filled() {
    const store = await postgresStore(cluster);
    const journal = await store.open();
    onTestFinished(() => journal.close());
    await journal.append([note('one')], [await journal.hold('run/a')]);
    journal.log.vouch(1);
    return { ...store, journal };
  }

  test('cannot be changed, not even by the owner of the tables', async () => {
    const { database } = await filled();
    for (const table of TABLES)
      for (const change of [
        `update lifeboat.${table} set ${COLUMN[table]}`,
        `delete from lifeboat.${table}`,
        `truncate lifeboat.${table}`,
      ])
        await expect(cluster.query(change, database)).rejects.toThrow('the journal is append-only');
    const asReplica = cluster.query(
      'set session_replication_role = replica; delete from lifeboat.entries',
      database,
    );
    await expect(asReplica).rejects.toThrow('the journal is append-only');
  });

  test('can be read and followed by a user who can only select, also by the pages, and who can write nothing', async () => {
    const { database, journal } = await filled();
    const reader = await login(false);
    await cluster.query(
      `grant usage on schema lifeboat to ${reader.name};
       grant select on all tables in schema lifeboat to ${reader.name}`,
      database,
    );
    const where = { address: reader.address(database), env: reader.env, projections: NOTES };
    const seen = await openPostgresForReading(where);
    onTestFinished(() => seen.close());
    expect(await seen.read('run/a')).toHaveLength(1);
    expect(await seen.rows('notes')).toHaveLength(1);
    expect(await seen.holder('run/a')).toMatchObject({ by: 'tester' });
    const { size } = await seen.log.head();
    const stop = new AbortController();
    const news = seen.follow(size, stop.signal)[Symbol.asyncIterator]();
    const first = news.next();
    await journal.append([note('two', 'run/c')], [await journal.hold('run/c')]);
    expect((await first).value).toMatchObject([{ stream: 'run/c' }]);
    stop.abort();
    const client = await connected(reader.name, database);
    for (const table of [...TABLES, 'leases', 'rows', 'projections'])
      for (const change of [`insert into lifeboat.${table} default values`, `delete from lifeboat.${table}`])
        await expect(client.query(change), change).rejects.toThrow('permission denied');
    const writing = openPostgresStore({ ...where, by: 'reader', signer: freshSigner() });
    await expect(writing.then((store) => store.hold('run/d'))).rejects.toThrow();
  });

  test('can be appended to by a member of the team, who may do nothing else to it', async () => {
    const { database } = await filled();
    const member = await login(true);
    const journal = await openPostgresStore({
      ...{
        address: member.address(database),
        env: member.env,
        by: 'member',
        signer: freshSigner(),
        projections: NOTES,
      },
    });
    onTestFinished(() => journal.close());
    const hold = await journal.hold('run/b');
    journal.log.vouch(1);
    await journal.append([note('two', 'run/b')], [hold]);
    expect(await journal.rows('notes')).toHaveLength(2);
    expect(await journal.log.vouched()).toBe(1);
    const client = await connected(member.name, database);
    for (const table of ['rows', 'projections'])
      for (const change of [`delete from lifeboat.${table}`, `update lifeboat.${table} set version = 7`])
        await expect(client.query(change)).rejects.toThrow('permission denied');
    for (const table of TABLES)
      for (const change of [
        `update lifeboat.${table} set ${COLUMN[table]}`,
        `delete from lifeboat.${table}`,
        `truncate lifeboat.${table}`,
      ])
        await expect(client.query(change)).rejects.toThrow(`permission denied for table ${table}`);
    const backdated = `insert into lifeboat.entries (stream, seq, at, by, type, body, append, signature)
      values ('run/c', 1, '2020-01-01T00:00:00.000Z', 'x', 'note', '{}', gen_random_uuid(), '')`;
    await expect(client.query(backdated)).rejects.toThrow('permission denied');
    await expect(client.query('alter table lifeboat.entries disable trigger all')).rejects.toThrow(
      'must be owner',
    );
    await expect(client.query('update lifeboat.store set version = 2')).rejects.toThrow('permission denied');
  });

  test('is readable only by the team', async () => {
    const { database } = await filled();
    const stranger = await login(false);
    await expect(
      openPostgresForReading({ address: stranger.address(database), env: stranger.env, projections: [] }),
    ).rejects.toMatchObject({
      code: 'journal.refused',
      hints: [`the owner of the store lets a member in: grant lifeboat_member to "${stranger.name}"`],
    });
  });

  test('is on the disk when it is acknowledged, whatever the settings of the database', async () => {
    const { database, address } = await filled();
    await cluster.query(`alter database ${database} set synchronous_commit = off`);
    const journal = await openPostgresStore({
      ...{ address, env, by: 'x', signer: freshSigner(), projections: [] },
    });
    onTestFinished(() => journal.close());
    await cluster.query(
      `create function public.note_setting() returns trigger language plpgsql as $$
       begin perform pg_notify('setting', current_setting('synchronous_commit')); return new; end $$;
       create trigger z after insert on lifeboat.heads for each row execute function public.note_setting()`,
      database,
    );
    const listener = new Client({ host: cluster.folder, port: cluster.port, user: 'postgres', database });
    await listener.connect();
    onTestFinished(() => listener.end());
    await listener.query('listen setting');
    const heard = new Promise((resolve) => listener.on('notification', ({ payload }) => resolve(payload)));
    await journal.append([note('two', 'run/b')], [await journal.hold('run/b')]);
    expect(await heard).toBe('on');
  });
});

const COLUMN: Readonly<Record<string, string>> = {
  entries: "type = 'x'",
  leaves: 'leaf = 7',
  heads: 'size = 7',
  vouched: 'size = 7',
};
