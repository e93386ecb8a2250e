import type { LifeboatError } from '../../src/base/errors.ts';
import { createBossQueue } from '../../src/queue/boss.ts';
import { installQueue, SCHEMA } from '../../src/queue/boss-schema.ts';
import { initPostgresStore } from '../../src/store/postgres/schema.ts';
import type { Cluster } from '../bench-kit/postgres.ts';
import { closing, type QueueUnderTest } from './queue-under-test.ts';

const { env } = process;
const templates = new WeakMap<Cluster, Promise<string>>();

/** A database with an empty store and its queue. */
export async function databaseWithQueue(cluster: Cluster): Promise<string> {
  const template = templates.get(cluster) ?? makeTemplate(cluster);
  templates.set(cluster, template);
  return cluster.makeDatabase(await template);
}

async function makeTemplate(cluster: Cluster): Promise<string> {
  const database = await cluster.makeDatabase();
  const address = cluster.address(database);
  await initPostgresStore({ address, env });
  await installQueue({ address, env });
  return database;
}

export interface BossUnderTest extends QueueUnderTest {
  readonly database: string;
  readonly address: string;
  /** As the superuser, in the database. */
  sql<Row extends object>(text: string, ...values: readonly unknown[]): Promise<Row[]>;
}

/** Two workers at one store. */
export async function freshBoss(cluster: Cluster): Promise<BossUnderTest> {
  const database = await databaseWithQueue(cluster);
  const address = cluster.address(database);
  const reports: LifeboatError[] = [];
  const open = () => closing(createBossQueue({ address, env, report: (error) => reports.push(error) }));
  const sql: BossUnderTest['sql'] = (text, ...values) => cluster.query(text, database, values);
  return {
    queues: [open(), open()],
    ...{ reports, database, address, sql },
    async passTime() {
      await sql(
        `update ${SCHEMA}.job set start_after = now() where name = 'lifeboat.due' and state < 'active'`,
      );
    },
  };
}
