import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { SCHEMA } from '../../src/queue/boss-schema.ts';
import type { Journal, Wake } from '../../src/store/journal.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { startCluster } from '../bench-kit/postgres.ts';
import { until } from '../bench-kit/until.ts';
import { note } from '../store/contract/store-under-test.ts';
import { freshSigner } from '../store/fresh-signer.ts';
import { databaseWithQueue } from './boss-under-test.ts';

/* An append and its wake-ups are on disk together, or not at all; no trouble of the queue fails an append. */
const cluster = await startCluster();
afterAll(() => cluster.remove());

async function filled() {
  const database = await databaseWithQueue(cluster);
  const address = cluster.address(database);
  const open = async () => {
    const journal = await openPostgresStore({
      ...{ address, env: process.env, by: 'tester', signer: freshSigner(), projections: [], patience: 5_000 },
    });
    onTestFinished(() => journal.close());
    return journal;
  };
  const sql = <Row extends object>(text: string) => cluster.query<Row>(text, database);
  const woken = async () => {
    const rows = await sql<{ run: string; at: Date }>(
      `select data->>'run' as run, start_after as at from ${SCHEMA}.job where name = 'lifeboat.run' order by 1`,
    );
    return rows;
  };
  return { database, address, journal: await open(), open, sql, woken };
}

async function append(journal: Journal, wakes: readonly Wake[], stream: `run/${string}` = 'run/a') {
  const hold = await journal.hold(stream);
  const entries = await journal.append([note('one', stream)], [hold], wakes);
  await hold.release();
  return entries;
}

describe('wake-ups of an append', () => {
  test('are in the queue when the append is acknowledged, each not before its time, and are reported here', async () => {
    const { journal, woken } = await filled();
    const told: unknown[] = [];
    const end = journal.onWake((wakes) => told.push(wakes));
    const at = new Date('2031-01-02T03:04:05.678Z');
    const wakes = [{ run: 'a' }, { run: 'b', at }];
    await append(journal, wakes);
    const now = Date.now() + 60_000;
    expect(await woken()).toEqual([
      { run: 'a', at: expect.any(Date) },
      { run: 'b', at },
    ]);
    expect((await woken())[0]?.at.getTime()).toBeLessThan(now);
    expect(told).toEqual([wakes]);
    end();
    await append(journal, [{ run: 'c' }]);
    expect(told).toHaveLength(1);
    expect(await woken()).toHaveLength(3);
  });

  test('of several appends at once are all in the queue, each once', async () => {
    const { journal, woken } = await filled();
    const runs = Array.from({ length: 20 }, (_, nr) => `r${nr}`);
    const holds = await Promise.all(runs.map((run) => journal.hold(`run/${run}`)));
    await Promise.all(
      runs.map((run, nr) =>
        journal.append([note('x', `run/${run}`)], [holds[nr] ?? expect.fail()], [{ run }]),
      ),
    );
    expect((await woken()).map(({ run }) => run)).toEqual(runs.toSorted());
  });

  test('are not in the queue if the append is refused', async () => {
    const { journal, woken, sql } = await filled();
    const told: unknown[] = [];
    journal.onWake((wakes) => told.push(wakes));
    const hold = await journal.hold('run/a');
    await sql("update lifeboat.leases set until = '-infinity'");
    await expect(journal.append([note('one')], [hold], [{ run: 'a' }])).rejects.toMatchObject({
      code: 'journal.lost-hold',
    });
    expect(await woken()).toEqual([]);
    expect(told).toEqual([]);
  });

  test('exist exactly for the entries that exist, wherever the connection or the process is cut', async () => {
    const { address, sql, woken } = await filled();
    for (let time = 0; time < 4; time += 1) {
      const child = spawn(process.execPath, [
        join(import.meta.dirname, 'waking-writer.ts'),
        address,
        `p${time}`,
      ]);
      let lines = 0;
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        lines += text.split('\n').length - 1;
      });
      const over = new Promise((resolve) => child.once('exit', resolve));
      await until(() => lines > time);
      child.kill('SIGKILL');
      await over;
    }
    const entries = await sql<{ text: string }>(
      `select body::json->>'text' as text from lifeboat.entries where type = 'note' order by 1`,
    );
    expect(entries.length).toBeGreaterThan(4);
    expect((await woken()).map(({ run }) => run).toSorted()).toEqual(
      entries.map(({ text }) => text).toSorted(),
    );
  });
});

describe('an append is still recorded', () => {
  test.each([
    ['a store that has no queue', `drop schema ${SCHEMA} cascade`],
    [
      'a queue without its queues',
      `delete from ${SCHEMA}.job; delete from ${SCHEMA}.queue where name = 'lifeboat.run'`,
    ],
    ['a queue without its table', `drop table ${SCHEMA}.job cascade`],
    ['a queue without its functions', `drop function ${SCHEMA}.try_wake(text[], timestamptz[])`],
    ['a queue of another make', `alter table ${SCHEMA}.job rename column singleton_key to other_key`],
  ])('in %s', async (_, break_) => {
    const { journal, open, sql } = await filled();
    await append(journal, [{ run: 'a' }]);
    await sql(break_);
    for (const each of [journal, await open()]) {
      await append(each, [{ run: 'a' }]);
      await append(each, [], 'run/b');
      await append(each, [{ run: 'a' }]);
    }
    expect(await journal.head('run/a')).toMatchObject({ seq: 5 });
  });

  test('while the table of the queue is locked', async () => {
    const { journal, database, woken } = await filled();
    const other = new Client({ host: cluster.folder, port: cluster.port, user: 'postgres', database });
    await other.connect();
    onTestFinished(() => other.end());
    await other.query(`begin; lock table ${SCHEMA}.job_common in access exclusive mode`);
    await append(journal, [{ run: 'a' }]);
    await other.query('rollback');
    expect(await woken()).toEqual([]);
  });
});
