import { copyFileSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SCHEMA } from '../../src/store/sqlite/database.ts';
import { addressOf, type Cluster } from '../bench-kit/postgres.ts';
import type { TestBench } from '../bench-kit/test-bench.ts';
import { database, loseLog } from './rolled-back.ts';

/** What a person with a database tool can do to the store of a bench, of either engine. */
export interface HurtStore {
  /** Remembers what is there: yesterday. */
  keep(): Promise<void>;
  /** How many entries there were yesterday. */
  readonly kept: number;
  putBack(): Promise<void>;
  /** Removes rows that fulfil a condition on `leaf` and `type`, and nothing that was signed over them. */
  deleteRows(where: string): Promise<void>;
  /** Removes the signed heads of more entries, too. */
  deleteHeads(above: number): Promise<void>;
  /** What is left is a store in which nothing was ever written. */
  empty(): Promise<void>;
  /** Runs statements that were printed for the owner of the database. */
  run(sql: string): Promise<void>;
}

/** The journal of the home. */
export function hurtSqlite(bench: TestBench): HurtStore {
  const yesterday = join(bench.folder, 'yesterday.db');
  const run = async (sql: string) => {
    const db = new DatabaseSync(database(bench));
    const guards = ['entries_no_delete', 'heads_no_delete'].map(
      (name) => [name, SCHEMA[name] ?? ''] as const,
    );
    for (const [name] of guards) db.exec(`DROP TRIGGER ${name}`);
    db.exec(sql);
    for (const [, guard] of guards) db.exec(guard);
    db.close();
  };
  let kept = 0;
  return {
    get kept() {
      return kept;
    },
    async keep() {
      copyFileSync(database(bench), yesterday);
      const db = new DatabaseSync(yesterday);
      kept = Number(db.prepare('SELECT max(size) AS size FROM heads').get()?.['size']);
      db.close();
    },
    async putBack() {
      loseLog(bench);
      copyFileSync(yesterday, database(bench));
    },
    deleteRows: (where) => run(`DELETE FROM entries WHERE ${where}`),
    deleteHeads: (above) => run(`DELETE FROM heads WHERE size > ${above}`),
    async empty() {
      const away = join(bench.folder, 'away');
      mkdirSync(away);
      for (const name of readdirSync(bench.home))
        if (name !== 'checkpoints' && name !== 'vault.age')
          renameSync(join(bench.home, name), join(away, name));
    },
    run,
  };
}

/** A database of its own on a server that lets everybody in, for LIFEBOAT_STORE of a bench. */
export async function databaseOn(cluster: Cluster, name: string) {
  const query = (sql: string) => cluster.query<Record<string, unknown>>(sql, name);
  const anew = async (from: string, to: string) => {
    await cluster.query(`drop database if exists ${to} with (force)`);
    await cluster.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${from}'`);
    await cluster.query(`create database ${to} template ${from}`);
  };
  await anew('template0', name);
  return { address: addressOf([cluster.port], name), hurt: hurtPostgres(query, anew, name) };
}

function hurtPostgres(
  query: (sql: string) => Promise<Record<string, unknown>[]>,
  anew: (from: string, to: string) => Promise<void>,
  name: string,
): HurtStore {
  const tables = ['entries', 'leaves', 'heads', 'vouched'];
  const tampered = async (sql: string) => {
    const off = tables.map((table) => `alter table lifeboat.${table} disable trigger all;`);
    const on = tables.map(
      (table) => `alter table lifeboat.${table} enable always trigger ${table}_append_only;`,
    );
    await query(`${off.join('')} ${sql}; ${on.join('')}`);
  };
  const chosen = (where: string) =>
    `select id from lifeboat.leaves join lifeboat.entries using (id) where ${where}`;
  let kept = 0;
  return {
    get kept() {
      return kept;
    },
    async keep() {
      const [head] = await query('select max(size)::int as size from lifeboat.heads');
      kept = Number(head?.['size']);
      await anew(name, `${name}_yesterday`);
    },
    putBack: () => anew(`${name}_yesterday`, name),
    deleteRows: (where) =>
      tampered(
        `create temporary table gone as ${chosen(where)};
         delete from lifeboat.entries where id in (select id from gone);
         delete from lifeboat.leaves where id in (select id from gone)`,
      ),
    deleteHeads: (above) => tampered(`delete from lifeboat.heads where size > ${above}`),
    empty: () =>
      tampered(`truncate ${[...tables, 'projections', 'rows'].map((t) => `lifeboat.${t}`).join()}`),
    run: async (sql) => void (await query(sql)),
  };
}
