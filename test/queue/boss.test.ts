import { getRollbackPlans, PgBoss } from 'pg-boss';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { createBossQueue } from '../../src/queue/boss.ts';
import { createBossReader } from '../../src/queue/boss-board.ts';
import { BOSS_SCHEMA, installQueue, migrateQueue, SCHEMA } from '../../src/queue/boss-schema.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { initPostgresStore } from '../../src/store/postgres/schema.ts';
import { startCluster } from '../bench-kit/postgres.ts';
import { until } from '../bench-kit/until.ts';
import { note } from '../store/contract/store-under-test.ts';
import { freshSigner } from '../store/fresh-signer.ts';
import { freshBoss } from './boss-under-test.ts';
import { queueContract } from './contract.ts';
import { closing, daily, recorder, working } from './queue-under-test.ts';

const cluster = await startCluster();
afterAll(() => cluster.remove());

const { env } = process;
const OPTIONS = { concurrency: 2, label: 'test' };

queueContract('the queue in PostgreSQL', () => freshBoss(cluster), 300);

/** A new login over TCP with a password. */
async function login(isMember: boolean) {
  const name = `user_${Math.random().toString(36).slice(2)}`;
  const role = isMember ? 'in role lifeboat_member' : '';
  await cluster.query(`create role ${name} login password 'open sesame' ${role}`);
  const address = (database: string) => `postgres://${name}@127.0.0.1:${cluster.port}/${database}`;
  return { name, env: { PGPASSWORD: 'open sesame' }, address };
}

describe('the queue in PostgreSQL', () => {
  test('needs only the role of a member: to append with wake-ups, to work and to schedule', async () => {
    const { database } = await freshBoss(cluster);
    const member = await login(true);
    const [address, reports] = [member.address(database), [] as unknown[]];
    const queue = closing(
      createBossQueue({ address, env: member.env, report: (error) => reports.push(error) }),
    );
    const seen = recorder();
    await queue.every([daily({ lastRan: new Date(Date.now() - 3 * 86_400_000) })]);
    void queue.work(seen.handlers, OPTIONS);
    const journal = await openPostgresStore({
      ...{ address, env: member.env, by: 'member', signer: freshSigner(), projections: [] },
    });
    onTestFinished(() => journal.close());
    await journal.append([note('one')], [await journal.hold('run/a')], [{ run: 'a' }]);
    await queue.wakeAt('b', new Date());
    await until(() => seen.ended.length === 2 && seen.dues.length === 1);
    const reader = closing(createBossReader({ address, env: member.env, report: () => undefined }));
    expect(await reader.workers()).toMatchObject([{ label: 'test', state: 'live' }]);
    expect(await reader.depth()).toMatchObject({ ready: 0 });
    expect(reports).toEqual([]);
  });

  test('refuses a database user who is not a member', async () => {
    const { database } = await freshBoss(cluster);
    const stranger = await login(false);
    const queue = closing(
      createBossQueue({ address: stranger.address(database), env: stranger.env, report: () => undefined }),
    );
    await expect(queue.wake(['one'])).rejects.toMatchObject({ code: 'journal.refused' });
    await expect(queue.depth()).rejects.toMatchObject({ code: 'journal.refused' });
  });

  test('loses only wake-ups when its jobs are deleted', async () => {
    const under = await freshBoss(cluster);
    const seen = recorder();
    seen.close();
    const runs = Array.from({ length: 40 }, (_, nr) => `run-${nr}`);
    const [queue] = under.queues;
    await queue.every([daily()]);
    await queue.wake(runs);
    working(under, seen);
    await until(() => seen.looked.length === 8);
    await under.sql(`truncate ${SCHEMA}.job_common`);
    seen.open();
    // As the sweep of a worker does.
    await queue.wake(runs);
    await until(() => new Set(seen.ended).size === runs.length);
    expect(seen.mostOfOne()).toBeLessThanOrEqual(2);
    expect(under.reports).toEqual([]);
  });

  test('stores nothing of the error of a failing handler', async () => {
    const { queues, reports, sql } = await freshBoss(cluster);
    const [queue] = queues;
    const look = async () => {
      throw new Error('the password is hunter2');
    };
    await queue.wake(['one']);
    void queue.work({ look, due: async () => {} }, OPTIONS);
    const failed = `select output::text from ${SCHEMA}.job where state = 'retry'`;
    await until(async () => (await sql(failed)).length === 1);
    expect(reports).toMatchObject([
      { code: 'queue.trouble', shortMessage: expect.stringContaining('hunter2') },
    ]);
    const dump = `select json_agg(j)::text as all from ${SCHEMA}.job j`;
    expect(JSON.stringify(await sql(dump))).not.toContain('hunter2');
    const again = `select extract(epoch from start_after - now()) as wait from ${SCHEMA}.job`;
    const [row] = await sql<{ wait: string }>(again);
    expect(Number(row?.wait)).toBeLessThan(60);
  });

  test('keeps the schedules of each host: no host removes those of another, and a difference is reported', async () => {
    const { sql, address } = await freshBoss(cluster);
    const told: string[] = [];
    const of = (host: string) =>
      closing(
        createBossQueue({ ...{ address, env, host }, report: ({ shortMessage }) => told.push(shortMessage) }),
      );
    const [east, west] = [of('east'), of('west')];
    const due = async () =>
      (
        await sql<{ name: string }>(
          `select distinct s.data->>'name' as name from ${SCHEMA}.job j join ${SCHEMA}.schedule s
           on j.singleton_key = substr(encode(sha256((s.data->>'name')::bytea), 'hex'), 1, 32)
           where j.name = 'lifeboat.due' and j.state < 'active' order by 1`,
        )
      ).map(({ name }) => name);
    await east.every([daily({ name: 'both' }), daily({ name: 'of east' })]);
    await west.every([daily({ name: 'both' }), daily({ name: 'of west' })]);
    expect(await due()).toEqual(['both', 'of east', 'of west']);
    // What both declare stays until neither does.
    await west.every([]);
    expect(await due()).toEqual(['both', 'of east']);
    expect(told).toEqual([]);
    await west.every([daily({ name: 'both', cron: '0 4 * * *' })]);
    expect(told).toEqual(['the schedule both differs from that of the host east']);
    const jobs = `select from ${SCHEMA}.job where name = 'lifeboat.due' and state < 'active'`;
    expect(await sql(jobs)).toHaveLength(2);
    // A host that declared nothing for a day, and has no worker, declares nothing any more.
    await sql(`update ${SCHEMA}.schedule set updated_on = now() - interval '25 hours'
      where data->>'host' = 'east'`);
    await west.every([]);
    expect(await due()).toEqual([]);
  });

  test('declares its schedules again where they are gone, as with a schema that was made again', async () => {
    const { queues, sql } = await freshBoss(cluster);
    const [queue] = queues;
    await queue.every([daily()]);
    await sql(`delete from ${SCHEMA}.schedule`);
    await sql(`delete from ${SCHEMA}.job`);
    void queue.work(recorder().handlers, OPTIONS);
    await until(
      async () => (await sql(`select from ${SCHEMA}.job where name = 'lifeboat.due'`)).length === 1,
    );
    expect(await sql(`select data->>'name' as name from ${SCHEMA}.schedule`)).toEqual([
      { name: 'drill orders' },
    ]);
  });

  test('delivers what is due only to a worker of a host that declares it, and waits for one', async () => {
    const { sql, address } = await freshBoss(cluster);
    const at = (host: string) => {
      const seen = recorder();
      const queue = closing(createBossQueue({ ...{ address, env, host }, report: () => undefined }));
      return { ...seen, every: queue.every, work: () => void queue.work(seen.handlers, OPTIONS) };
    };
    const [without, other, declaring] = [at('east'), at('north'), at('west')];
    await declaring.every([daily({ lastRan: new Date(Date.now() - 2 * 86_400_000) })]);
    without.work();
    other.work();
    const passedOn = `select from ${SCHEMA}.job where name = 'lifeboat.due' and state = 'completed'`;
    const waiting =
      "name = 'lifeboat.due' and state = 'created' and start_after < now() + interval '20 seconds'";
    // As if the time had passed for which it waits between two workers.
    const pass = () => sql(`update ${SCHEMA}.job set start_after = now() where ${waiting}`);
    await until(async () => {
      await pass();
      return (await sql(passedOn)).length > 5;
    });
    expect((await sql(`select from ${SCHEMA}.job where ${waiting}`)).length).toBeLessThanOrEqual(1);
    declaring.work();
    await until(async () => {
      await pass();
      return declaring.dues.length > 0;
    });
    expect(declaring.dues).toMatchObject([{ name: 'drill orders', late: true }]);
    expect([...without.dues, ...other.dues]).toEqual([]);
  });

  test('stores nothing for ever: finished jobs are removed, and so are jobs that failed too often', async () => {
    const { sql, queues, database } = await freshBoss(cluster);
    const member = await login(true);
    const kept = `select name, retention_seconds / 86400 as days, deletion_seconds as seconds
      from ${SCHEMA}.queue where name like 'lifeboat.%' order by name`;
    expect(await sql(kept)).toEqual([
      { name: 'lifeboat.due', days: 7, seconds: 600 },
      { name: 'lifeboat.lost', days: 7, seconds: 604_800 },
      { name: 'lifeboat.run', days: 7, seconds: 600 },
    ]);
    await queues[0].wake(['over', 'lost']);
    const times = "start_after = now() - interval '9 days', keep_until = now() - interval '1 day'";
    await sql(`update ${SCHEMA}.job set ${times}`);
    const was = (run: string, state: string) =>
      `update ${SCHEMA}.job set ${state} where singleton_key = '${run}'`;
    await sql(was('over', "state = 'completed', completed_on = now() - interval '1 hour'"));
    await sql(was('lost', "name = 'lifeboat.lost'"));
    const address = member.address(database);
    const queue = closing(createBossQueue({ address, env: member.env, report: () => undefined }));
    const seen = recorder();
    void queue.work(seen.handlers, OPTIONS);
    await until(async () => (await sql(`select from ${SCHEMA}.job`)).length === 0);
    expect(seen.looked).toEqual([]);
  });

  test('gives the runs of a worker that stops at once to another worker', async () => {
    const under = await freshBoss(cluster);
    const [first, second] = under.queues;
    const [held, seen] = [recorder(), recorder()];
    held.close();
    void first.work(held.handlers, OPTIONS);
    await first.wake(['one']);
    await until(() => held.looked.length === 1);
    await first.stop(0);
    void second?.work(seen.handlers, OPTIONS);
    await until(() => seen.ended.length === 1);
    held.open();
    expect(await second?.workers()).toMatchObject([{ state: 'live' }, { state: 'stopped' }]);
  });

  test('gives a run to no other worker while its worker lives, however long its look takes', async () => {
    const { queues, sql } = await freshBoss(cluster);
    const [first, second] = queues;
    const [held, other] = [recorder(), recorder()];
    held.close();
    void first.work(held.handlers, OPTIONS);
    await first.wake(['long']);
    await until(() => held.looked.length === 1);
    void second?.work(other.handlers, OPTIONS);
    await sql(`update ${SCHEMA}.job set started_on = now() - interval '40 minutes' where state = 'active'`);
    const since = new Date().toISOString();
    const supervised = `select from ${SCHEMA}.queue where name = 'lifeboat.run' and monitor_on > '${since}'`;
    await until(async () => (await sql(supervised)).length === 1);
    expect(await sql(`select state from ${SCHEMA}.job where singleton_key = 'long'`)).toEqual([
      { state: 'active' },
    ]);
    held.open();
    await until(() => held.ended.length === 1);
    expect(other.looked).toEqual([]);
  });

  test('lets a wake-up that is due once begin beside a long run that is woken again and again', async () => {
    const { queues } = await freshBoss(cluster);
    const [queue] = queues;
    const held = recorder();
    held.close();
    void queue.work(held.handlers, OPTIONS);
    for (let times = 0; times < 20; times += 1) await queue.wake(['busy']);
    await until(() => held.looked.length === 1);
    for (let times = 0; times < 20; times += 1) await queue.wake(['busy']);
    await queue.wakeAt('once', new Date());
    await until(() => held.looked.length === 2);
    expect(held.looked).toEqual(['busy', 'once']);
    held.open();
  });

  test('says that it cannot be reached, and continues when it can', async () => {
    const under = await freshBoss(cluster);
    const [queue] = under.queues;
    const seen = recorder();
    void queue.work(seen.handlers, OPTIONS);
    await queue.wake(['one']);
    await until(() => seen.ended.length === 1);
    await cluster.query(`alter database ${under.database} allow_connections false`);
    await cluster.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
      'postgres',
      [under.database],
    );
    await until(() => under.reports.length > 0);
    await cluster.query(`alter database ${under.database} allow_connections true`);
    await queue.wake(['two']);
    await until(() => seen.ended.includes('two'));
    expect(new Set(under.reports.map(({ code }) => code))).toEqual(new Set(['queue.trouble']));
  });
});

describe('the schema of the queue', () => {
  test('equals that of the installed pg-boss', async () => {
    const { default: manifest } = await import('pg-boss/package.json', { with: { type: 'json' } });
    expect(manifest.pgboss.schema).toBe(BOSS_SCHEMA);
  });

  test('is created once, by the first of several, and left alone afterwards with all its content', async () => {
    const address = cluster.address(await cluster.makeDatabase());
    await initPostgresStore({ address, env });
    const made = await Promise.all([1, 2, 3].map(() => installQueue({ address, env })));
    expect(made.filter(({ state }) => state === 'made')).toHaveLength(1);
    const queue = closing(createBossQueue({ address, env, report: () => undefined }));
    await queue.wake(['one']);
    expect(await installQueue({ address, env })).toEqual({ state: 'there', toDo: [] });
    expect(await queue.depth()).toMatchObject({ ready: 1 });
  });

  test('is created by a person with the right to do so, and another learns what to ask for', async () => {
    const database = await cluster.makeDatabase();
    const owner = await login(false);
    await cluster.query(`grant create on database ${database} to ${owner.name}`);
    const where = { address: owner.address(database), env: owner.env };
    await initPostgresStore(where);
    await cluster.query(`revoke create on database ${database} from ${owner.name}`);
    expect(await installQueue(where)).toEqual({
      state: 'missing',
      toDo: [
        expect.stringContaining(`grant create on database "${database}" to "${owner.name}"`),
        expect.stringContaining('lifeboat store init'),
      ],
    });
    const queue = closing(createBossQueue({ ...where, report: () => undefined }));
    const none = { code: 'queue.none', hints: [expect.stringContaining('lifeboat store init')] };
    await expect(queue.work(recorder().handlers, OPTIONS)).rejects.toMatchObject(none);
    await expect(queue.wake(['one'])).rejects.toMatchObject(none);
    await expect(queue.depth()).rejects.toMatchObject(none);
    await cluster.query(`grant create on database ${database} to ${owner.name}`);
    expect(await installQueue(where)).toEqual({ state: 'made', toDo: [] });
    await queue.wake(['one']);
  });

  test.each([
    [BOSS_SCHEMA - 1, '`lifeboat store migrate` brings it'],
    [BOSS_SCHEMA + 1, 'use the version of lifeboat that made it'],
  ])('of version %i is refused by a worker, with a way out', async (version, hint) => {
    const { queues, sql, address } = await freshBoss(cluster);
    await sql(`update ${SCHEMA}.version set version = ${version}`);
    const refused = {
      code: 'queue.version',
      shortMessage: `the queue of the store has version ${version}, this lifeboat knows ${BOSS_SCHEMA}`,
      hints: [expect.stringContaining(hint)],
    };
    await expect(queues[0].work(recorder().handlers, OPTIONS)).rejects.toMatchObject(refused);
    await expect(installQueue({ address, env })).rejects.toMatchObject(refused);
    if (version > BOSS_SCHEMA) await expect(migrateQueue({ address, env })).rejects.toMatchObject(refused);
    // Who only wakes needs to know nothing of it.
    await queues[0].wake(['one']);
  });

  test('of an older version is upgraded to this one', async () => {
    const database = await cluster.makeDatabase();
    const address = cluster.address(database);
    await initPostgresStore({ address, env });
    await installQueue({ address, env });
    await cluster.query(getRollbackPlans(SCHEMA, BOSS_SCHEMA), database);
    expect(await migrateQueue({ address, env })).toEqual({ state: 'migrated', toDo: [] });
    expect(await migrateQueue({ address, env })).toEqual({ state: 'there', toDo: [] });
    const [row] = await cluster.query<{ version: number }>(`select version from ${SCHEMA}.version`, database);
    expect(row?.version).toBe(BOSS_SCHEMA);
    const boss = new PgBoss({
      schema: SCHEMA,
      db: { executeSql: async (sql, values) => ({ rows: await cluster.query(sql, database, values ?? []) }) },
    });
    expect(await boss.detectSchemaDrift()).toMatchObject({ ok: true });
  });
});
