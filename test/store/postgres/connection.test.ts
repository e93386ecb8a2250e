import { Client } from 'pg';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Hold, Journal, NewEntry } from '../../../src/store/journal.ts';
import { openPostgresForReading, openPostgresStore } from '../../../src/store/postgres/open.ts';
import { compareProjections } from '../../../src/store/projected.ts';
import { type DatabaseBlow, openDatabaseWire } from '../../bench-kit/database-wire.ts';
import { startCluster } from '../../bench-kit/postgres.ts';
import { until } from '../../bench-kit/until.ts';
import { notesProjection } from '../contract/projection.ts';
import { notes, opened } from '../contract/store-under-test.ts';
import { freshSigner } from '../fresh-signer.ts';
import { postgresStore } from './postgres-store.ts';

/* Appends, holds and followers when connections break. */
const cluster = await startCluster();
afterAll(() => cluster.remove());

const env = process.env;

/** A writer that holds `run/a`, over a connection that can be cut. */
async function scene({ ttl = 20_000, patience = 20_000 } = {}) {
  const store = await postgresStore(cluster);
  const wire = await openDatabaseWire(cluster);
  const address = wire.address(store.database);
  const journal = await openPostgresStore({
    ...{ address, env, by: 'tester', signer: store.signer, projections: [], ttl, patience },
  });
  onTestFinished(async () => {
    wire.mend();
    await journal.close();
    await wire.close();
  });
  const hold = await journal.hold('run/a');
  const append = (text: string) => journal.append([note(text)], [hold]);
  await append('first');
  const texts = async () => (await journal.read('run/a')).map(({ body }) => (body as { text: string }).text);
  /**
   * Breaks the connection that carries these words: before they arrive, or when they are done, before the
   * answer.
   */
  const breaksAt = (at: DatabaseBlow['at'], words: string) =>
    new Promise<void>((resolve) => {
      const strike = (cutOff: () => void) => {
        cutOff();
        resolve();
      };
      wire.arm({ words, nth: 1, at, strike });
    });
  return { store, wire, journal, hold, append, texts, breaksAt };
}

const note = (text: string): NewEntry => ({ stream: 'run/a', type: 'note', body: { text } });

describe('an append whose connection breaks', () => {
  test('is found if its answer was lost, exactly once', async () => {
    const { append, texts, breaksAt, journal } = await scene();
    const lost = breaksAt('done', 'marked');
    const [entry] = await append('marked');
    await lost;
    expect(entry).toMatchObject({ seq: 2, index: 2, body: { text: 'marked' } });
    await append('next');
    expect(await texts()).toEqual(['first', 'marked', 'next']);
    expect(await journal.log.count()).toBe((await journal.log.head()).size);
  });

  test('is sent again if it did not arrive', async () => {
    const { breaksAt, append, texts } = await scene();
    const lost = breaksAt('held', 'marked');
    await append('marked');
    await lost;
    await append('next');
    expect(await texts()).toEqual(['first', 'marked', 'next']);
  });

  test('is retried until the store can be reached', async () => {
    const { wire, append, texts } = await scene();
    wire.cut();
    const appended = append('later');
    wire.mend();
    expect(await appended).toMatchObject([{ seq: 2 }]);
    expect(await texts()).toEqual(['first', 'later']);
  });

  test('ends the journal if the store cannot be reached in time', async () => {
    const { wire, append } = await scene({ patience: 300 });
    wire.cut();
    const refused = {
      code: 'journal.lost',
      hints: [expect.stringContaining('no further step'), expect.any(String)],
    };
    await expect(append('later')).rejects.toMatchObject(refused);
    wire.mend();
    await expect(append('later')).rejects.toMatchObject(refused);
  });

  test('keeps its position in a group of appends, each of which is written once', async () => {
    const { breaksAt, journal, hold, texts } = await scene();
    const all = Array.from({ length: 20 }, (_, number) => `<${number}>`);
    const lost = breaksAt('done', '<7>');
    await Promise.all(all.map((text) => journal.append([note(text)], [hold])));
    await lost;
    expect(await texts()).toEqual(['first', ...all]);
  });
});

test('a server that crashes and comes back has every acknowledged entry', async () => {
  const { journal, append, texts } = await scene();
  const acknowledged: string[] = ['first'];
  const appending = (async () => {
    for (let number = 0; number < 30; number += 1) {
      await append(`n${number}`);
      acknowledged.push(`n${number}`);
    }
  })();
  await cluster.crash();
  await cluster.start();
  await appending;
  expect(await texts()).toEqual(acknowledged);
  expect(await journal.log.count()).toBe((await journal.log.head()).size);
});

test('forty installations that write to a new store at the same moment all get in, each announced once', async () => {
  const { address } = await postgresStore(cluster);
  const all = await Promise.all(
    Array.from({ length: 40 }, async (_, number) => {
      const options = { address, env, by: `person ${number}`, signer: freshSigner(), projections: [] };
      const journal = await openPostgresStore(options);
      onTestFinished(() => journal.close());
      return { journal, hold: await journal.hold(`run/r${number}`) };
    }),
  );
  await Promise.all(
    all.map(({ journal, hold }) =>
      journal.append([{ stream: hold.resource, type: 'note', body: null }], [hold]),
    ),
  );
  const types = (await all[0]?.journal.read('store/log'))?.map(({ type }) => type);
  expect(types).toEqual(['log.begun', ...Array.from({ length: 39 }, () => 'key.announced')]);
  expect(await all[0]?.journal.log.count()).toBe(80);
});

test('a follower misses nothing when its connections break', async () => {
  const { wire, journal, append } = await scene();
  const enough = new AbortController();
  const heard: number[] = [];
  const following = (async () => {
    for await (const group of journal.follow(0, enough.signal)) {
      heard.push(...group.map(({ index }) => index));
      if (heard.length >= 12) enough.abort();
    }
  })();
  for (let number = 0; number < 10; number += 1) {
    if (number % 3 === 0) {
      wire.cut();
      wire.mend();
    }
    await append(`n${number}`);
  }
  await following;
  expect(heard).toEqual(heard.map((_, index) => index));
});

describe('a store that was rolled back to before what this process saw', () => {
  /** A promoted standby that lagged behind: the database before the last entries. */
  async function rolledBack() {
    const one = await scene();
    const { store, journal, append } = one;
    const kept = `${store.database}_kept`;
    await cluster.query(END_ALL, 'postgres', [store.database]);
    await cluster.query(`create database ${kept} template ${store.database}`);
    await append('gone');
    await cluster.query(`drop database ${store.database} with (force)`);
    await cluster.query(`alter database ${kept} rename to ${store.database}`);
    return { ...one, journal };
  }
  const END_ALL = 'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1';

  test('accepts no append of it, and can still be read', async () => {
    const { append, texts } = await rolledBack();
    await expect(append('after')).rejects.toMatchObject({
      code: 'journal.rolled-back',
      exitCode: 5,
      hints: expect.arrayContaining([expect.stringContaining('standby')]),
    });
    await expect(append('again')).rejects.toMatchObject({ code: 'journal.rolled-back' });
    expect(await texts()).toEqual(['first']);
  });

  test('is noticed even after others have made it grow again', async () => {
    const { store, append } = await rolledBack();
    await cluster.query('delete from lifeboat.leases', store.database);
    const other = await openPostgresStore({
      ...{ address: store.address, env, by: 'other', signer: freshSigner(), projections: [] },
    });
    onTestFinished(() => other.close());
    const hold = await other.hold('run/b');
    for (const one of notes(3, 'run/b')) await other.append([one], [hold]);
    await expect(append('after')).rejects.toMatchObject({ code: 'journal.rolled-back' });
  });
});

test('rows that a dead process committed without leaves get them from the next process, before it writes', async () => {
  const store = await postgresStore(cluster);
  const journal = await store.open();
  const hold = await journal.hold('run/a');
  await journal.append([note('one')], [hold]);
  // As if it had died after the first of the two phases: removes the leaves of the last append and its head.
  const last = await journal.append([note('two'), note('three')], [hold]);
  await hold.release();
  await journal.close();
  await store.tamper.removeNewestHead();
  await cluster.query('alter table lifeboat.leaves disable trigger all', store.database);
  await cluster.query('delete from lifeboat.leaves where leaf >= $1', store.database, [last[0]?.index]);
  await cluster.query('alter table lifeboat.leaves enable trigger all', store.database);
  const reader = await store.openForReading();
  onTestFinished(() => reader.close());
  expect(await reader.read('run/a')).toHaveLength(1);
  const next = await openPostgresStore({
    ...{ address: store.address, env, by: 'other', signer: freshSigner(), projections: [] },
  });
  onTestFinished(() => next.close());
  expect((await next.read('run/a')).map(({ seq }) => seq)).toEqual([1, 2, 3]);
  await next.append([note('four')], [await next.hold('run/a')]);
  expect((await Array.fromAsync(next.log.stored())).map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5]);
});

test('a process that stops while it sequences rows does not block others for long', async () => {
  const { store, append } = await scene({ ttl: 3_000 });
  const stopped = new Client({
    host: cluster.folder,
    port: cluster.port,
    user: 'postgres',
    database: store.database,
  });
  const ended = new Promise<string>((resolve) => stopped.on('error', ({ message }) => resolve(message)));
  await stopped.connect();
  onTestFinished(() => stopped.end().catch(() => undefined));
  await stopped.query('set idle_in_transaction_session_timeout = 1000');
  const { rows } = await stopped.query('select lifeboat.claim(null, null, true) as claim');
  expect(rows[0]?.claim).toMatchObject({ leaves: 2, entries: null });
  expect(await append('second')).toMatchObject([{ seq: 2 }]);
  expect(await ended).toContain('idle-session timeout');
});

test('a process that has stopped sequencing rows may be idle for any time', async () => {
  const { store, append } = await scene({ ttl: 4_500 });
  for (const text of ['second', 'third']) await append(text);
  // Three times the idle limit of a session that sequences: by then it is gone, or it stays.
  await until(async () => {
    const [session] = await cluster.query<{ idle: number }>(
      `select extract(epoch from clock_timestamp() - state_change)::float8 as idle from pg_stat_activity
       where datname = $1 and application_name = 'lifeboat'`,
      'postgres',
      [store.database],
    );
    if (session === undefined) throw new Error('it was ended');
    return session.idle > 4.5;
  });
});

test('two versions of a projection are kept apart, and each continues', async () => {
  const store = await postgresStore(cluster);
  const [older, newer] = [[notesProjection(1)], [notesProjection(2)]];
  const old = await opened(store, { projections: older });
  const hold = await old.hold('run/a');
  await old.append([note('one')], [hold]);
  const fresh = await opened(store, { projections: newer });
  await fresh.append([{ ...note('two'), stream: 'run/b' }], [await fresh.hold('run/b')]);
  await old.append([note('three')], [hold]);
  for (const [journal, projections] of [
    [old, older],
    [fresh, newer],
  ] as const) {
    expect(await journal.rows('notes')).toHaveLength(2);
    expect(await compareProjections(journal, projections)).toEqual([]);
  }
});

test('rows without a signature of this log never become part of it', async () => {
  const store = await postgresStore(cluster);
  const journal = await store.open();
  onTestFinished(() => journal.close());
  const append = async (hold: Hold, from: Journal) => from.append([note('one')], [hold]);
  const hold = await journal.hold('run/a');
  await append(hold, journal);
  await cluster.query(
    `insert into lifeboat.entries (stream, seq, by, type, body, append, signature)
     select 'run/b', 1, by, type, body, append, signature from lifeboat.entries where stream = 'run/a'`,
    store.database,
  );
  await expect(append(hold, journal)).rejects.toMatchObject({
    code: 'journal.damaged',
    shortMessage: 'entry 1 of run/b was not written by an installation of this journal',
  });
  const reader = await openPostgresForReading({ address: store.address, env, projections: [] });
  onTestFinished(() => reader.close());
  expect(await reader.read('run/b')).toEqual([]);
  expect(await reader.log.count()).toBe((await reader.log.head()).size + 1);
  expect((await Array.fromAsync(reader.log.stored())).at(-1)).toMatchObject({
    index: -1,
    stream: 'run/b',
    hash: '',
  });
});
