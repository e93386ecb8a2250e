import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hashOf } from '../../../src/store/canonical.ts';
import type { Hold, Journal, StoredEntry, StreamName } from '../../../src/store/journal.ts';
import { openPostgresForReading, openPostgresStore } from '../../../src/store/postgres/open.ts';
import { initPostgresStore } from '../../../src/store/postgres/schema.ts';
import type { Cluster } from '../../bench-kit/postgres.ts';
import { NOTES } from '../contract/projection.ts';
import type { StoreUnderTest } from '../contract/store-under-test.ts';
import { freshSigner } from '../fresh-signer.ts';

/** Long enough for a renewal on a busy machine, short enough to wait for. */
const TTL = 9_000;

export interface PostgresUnderTest extends StoreUnderTest {
  readonly address: string;
  readonly database: string;
}

const emptyStores = new WeakMap<Cluster, Promise<string>>();

/** The name of a database with an empty store to copy: creating its tables takes longer than a copy. */
function emptyStore(cluster: Cluster): Promise<string> {
  const made = emptyStores.get(cluster) ?? makeEmptyStore(cluster);
  emptyStores.set(cluster, made);
  return made;
}

async function makeEmptyStore(cluster: Cluster): Promise<string> {
  const database = await cluster.makeDatabase();
  await initPostgresStore({ address: cluster.address(database), env: process.env });
  return database;
}

export async function postgresStore(cluster: Cluster): Promise<PostgresUnderTest> {
  const database = await cluster.makeDatabase(await emptyStore(cluster));
  const [address, signer, env] = [cluster.address(database), freshSigner(), process.env];
  const holds: Hold[] = [];
  const sql = (text: string, ...values: readonly unknown[]) => cluster.query(text, database, values);
  const tampered = async (text: string, ...values: readonly unknown[]) => {
    for (const table of APPEND_ONLY) await sql(`alter table lifeboat.${table} disable trigger all`);
    await sql(text, ...values);
    for (const table of APPEND_ONLY)
      await sql(`alter table lifeboat.${table} enable always trigger ${table}_append_only`);
  };
  const newest = '(select max(size) from lifeboat.heads)';
  return {
    address,
    database,
    signer,
    open: async (options = {}) => {
      const journal = await openPostgresStore({
        ...{ address, env, by: 'tester', signer, projections: NOTES, ttl: TTL, patience: 2_000 },
        ...options,
      });
      return recorded(journal, holds);
    },
    openForReading: ({ projections = NOTES } = {}) =>
      openPostgresForReading({ address, env, projections, installation: signer.installation }),
    async appendElsewhere(stream, count) {
      const script = join(import.meta.dirname, '../append-elsewhere.ts');
      await promisify(execFile)(process.execPath, [script, address, stream, String(count)]);
    },
    async loseHold(stream) {
      await sql("update lifeboat.leases set until = '-infinity' where resource = $1", stream);
      const mine = holds.filter(({ resource }) => resource === stream);
      await Promise.all(mine.map(({ lost }) => aborted(lost)));
    },
    async breakDisk() {
      await cluster.query(`alter database ${database} allow_connections false`);
      await cluster.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
        'postgres',
        [database],
      );
    },
    tamper: {
      setBody: (leaf, body) =>
        tampered(
          'update lifeboat.entries set body = $2 where id = (select id from lifeboat.leaves where leaf = $1)',
          leaf,
          body,
        ),
      async removeEntry(leaf) {
        await tampered(
          'delete from lifeboat.entries where id = (select id from lifeboat.leaves where leaf = $1)',
          leaf,
        );
        await tampered('delete from lifeboat.leaves where leaf = $1', leaf);
      },
      async addEntry() {
        const [last] = await cluster.query<StoredEntry>(
          'select * from lifeboat.leaves join lifeboat.entries using (id) order by leaf desc limit 1',
          database,
        );
        if (last === undefined) throw new Error('there is no entry');
        const { stream, at, by, type, body } = last;
        const seq = Number(last.seq) + 1;
        const hash = Buffer.from(hashOf({ stream, seq, at, by, type, body }), 'hex');
        await tampered(
          `with added as (insert into lifeboat.entries (stream, seq, at, by, type, body, append, signature)
             values ($1, $2, $3, $4, $5, $6, gen_random_uuid(), '') returning id)
           insert into lifeboat.leaves select max(leaf) + 1, added.id, $7, $7 from lifeboat.leaves, added group by added.id`,
          ...[stream, seq, at, by, type, body, hash],
        );
      },
      removeNewestHead: () => tampered(`delete from lifeboat.heads where size = ${newest}`),
      setNewestHead: (note) => tampered(`update lifeboat.heads set note = $1 where size = ${newest}`, note),
      setRow: (projection, key, value) =>
        tampered(
          'update lifeboat.rows set value = $3 where projection = $1 and key = $2',
          projection,
          key,
          JSON.stringify(value),
        ),
      rows: (act, projection) =>
        tampered(
          `${act === 'delete' ? 'delete from lifeboat.rows' : "update lifeboat.rows set grp = 'closed'"} where projection = $1`,
          projection,
        ),
    },
  };
}

const APPEND_ONLY = ['entries', 'leaves', 'heads', 'vouched'];

/** The same journal, recording its holds. */
function recorded(journal: Journal, holds: Hold[]): Journal {
  return {
    ...journal,
    async hold(stream: StreamName) {
      const hold = await journal.hold(stream);
      holds.push(hold);
      return hold;
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
