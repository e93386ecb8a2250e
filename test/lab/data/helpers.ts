import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, onTestFinished } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import { createInstanceData, type InstanceData } from '../../../src/lab/data/instance-data.ts';
import { type Engine, makePostgresEngine } from '../../../src/lab/engine/engine.ts';
import { engineUser, makeLauncher } from '../../../src/lab/engine/launcher.ts';
import { type LocatedPostgres, locatePostgres } from '../../../src/lab/engine/locate-postgres.ts';
import { claimHome } from '../../../src/lab/home.ts';
import { bareDatabase } from '../../bench-kit/empty-database.ts';

/** An engine, and the folder of its places: for all tests of a file, or for one with `onTestFinished`. */
export async function testEngine(
  whenOver: (cleanUp: () => Promise<void>) => void = afterAll,
  located?: LocatedPostgres,
): Promise<{ engine: Engine; folder: string }> {
  const launcher = await makeLauncher(await engineUser());
  const home = await claimHome(launcher.user);
  const { signal } = new AbortController();
  const engine = await makePostgresEngine({
    located: located ?? locatePostgres(),
    launcher,
    folder: home.engine,
    fsync: false,
    emptyDatabase: located === undefined ? await bareDatabase() : undefined,
    signal,
  });
  whenOver(async () => {
    await engine.close();
    await home.release();
  });
  return { engine, folder: home.engine };
}

export interface TestInstance {
  readonly data: InstanceData;
  /** Where its archive is. */
  readonly folder: string;
  /** The key that archived log is encrypted with from now on. */
  setKey(key: Secret): void;
  /** Takes a base backup and keeps it. */
  backUp(id: string): Promise<Buffer>;
  /** The tar of a kept backup. */
  readonly open: (id: string) => Readable;
}

/** An instance that goes with the test. */
export async function testInstance(
  engine: Engine,
  options: { readonly archive: boolean; readonly name?: string } = { archive: true },
): Promise<TestInstance> {
  const folder = await mkdtemp(join(tmpdir(), 'archive-'));
  let key = newKey();
  const store = { folder, key: () => key };
  const data = await createInstanceData(
    engine,
    options.name ?? 'orders',
    options.archive ? { archive: store } : {},
  );
  onTestFinished(async () => {
    await data.remove();
    await rm(folder, { recursive: true, force: true });
  });
  const tars = new Map<string, Buffer>();
  return {
    data,
    folder,
    setKey: (next) => {
      key = next;
    },
    backUp: async (id) => {
      const backup = data.baseBackup(id);
      const tar = await buffer(backup.content);
      tars.set(id, tar);
      data.keepBackup(id, await backup.facts());
      return tar;
    },
    open: (id) => Readable.from([tars.get(id) ?? Buffer.alloc(0)]),
  };
}

export function newKey(): Secret {
  return new Secret(randomBytes(24).toString('base64url'));
}

export interface Commit {
  readonly id: number;
  /** Milliseconds since 1970, with fractions: when the server committed it. */
  readonly at: number;
}

/** A table `ledger` for `writer`. */
export async function openLedger(data: InstanceData): Promise<void> {
  await data.query('create table ledger (id int primary key, note text)');
}

/** Adds rows one by one until it is stopped. Asks the server what it committed, and when. */
export function writer(data: InstanceData, from = 1): { stop(): Promise<number> } {
  let id = from;
  let stopped = false;
  const work = (async () => {
    for (; !stopped; id += 1) await data.query('insert into ledger values ($1, $2)', [id, `row ${id}`]);
  })();
  return {
    stop: async () => {
      stopped = true;
      await work;
      return id;
    },
  };
}

/** Every row with the time of its commit, oldest first. */
export async function commits(data: InstanceData): Promise<Commit[]> {
  const rows = await data.query<{ id: number; at: string }>(
    'select id, extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000 as at from ledger order by id',
  );
  return rows.map(({ id, at }) => ({ id, at: Number(at) }));
}

/** How many rows there are, and the highest id. */
export async function summary(data: InstanceData): Promise<{ rows: number; last: number }> {
  const [row] = await data.query<{ rows: number; last: number }>(
    'select count(*)::int as rows, coalesce(max(id), 0) as last from ledger',
  );
  return row ?? { rows: -1, last: -1 };
}
