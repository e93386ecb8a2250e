import { afterAll, describe, expect, test } from 'vitest';
import { auditVerify } from '../../../src/audit/audit.ts';
import { startCluster } from '../../bench-kit/postgres.ts';
import { holdsOf, note } from '../contract/store-under-test.ts';
import { postgresStore } from './postgres-store.ts';

/* The owner of the database has no signing key, but can change its functions and tables. */
const cluster = await startCluster({ open: true });
afterAll(() => cluster.remove());

/** A store in which a run has one entry, and its owner's possible attacks. */
async function begun() {
  const store = await postgresStore(cluster);
  const journal = await store.open();
  const holds = await holdsOf(journal, ['run/a']);
  await journal.append([note('before')], holds);
  const sql = (text: string) => cluster.query(text, store.database);
  return { store, journal, holds, sql };
}

const LIES = {
  'a function that says that all is done': `create or replace function
    lifeboat.claim(streams text[], seqs bigint[], must boolean) returns json language sql as $$
      select json_build_object('done', json_agg(json_build_array(g.stream, g.seq, g.seq)))
        from unnest(streams, seqs) g(stream, seq) $$`,
  'a function that names the leaf of another row': `create or replace function
    lifeboat.claim(streams text[], seqs bigint[], must boolean) returns json language sql as $$
      select json_build_object('done', json_agg(json_build_array(g.stream, g.seq, 1)))
        from unnest(streams, seqs) g(stream, seq) $$`,
  'a trigger that drops leaves': dropping('leaves'),
  'a trigger that drops heads': dropping('heads'),
} as const;

function dropping(table: string): string {
  return `create function public.drop_it() returns trigger language plpgsql as 'begin return null; end';
    create trigger drop_it before insert on lifeboat.${table} for each row execute function public.drop_it();
    alter table lifeboat.${table} enable always trigger drop_it`;
}

describe('an append that the database only claims to have stored', () => {
  test.each(Object.entries(LIES))('because of %s is not acknowledged', async (_, lie) => {
    const { journal, holds, sql } = await begun();
    await sql(lie);
    await expect(journal.append([note('armed')], holds)).rejects.toMatchObject({
      code: 'journal.damaged',
      shortMessage: expect.stringMatching(/^the database says that it has written, and it has not: /u),
    });
    // The same holds for every later append.
    await expect(journal.append([note('more')], holds)).rejects.toMatchObject({ code: 'journal.damaged' });
  });

  test('is named by an audit, by its stream and number', async () => {
    const { store, journal, holds, sql } = await begun();
    await sql(LIES['a function that says that all is done']);
    await expect(journal.append([note('armed')], holds)).rejects.toMatchObject({ code: 'journal.damaged' });
    const reader = await store.openForReading();
    const options = { log: reader.log, places: [], transcriptOf: () => undefined, isShared: true };
    const codes = async () =>
      (await auditVerify(options)).findings.flatMap(({ code, shortMessage }) =>
        code === 'entry.left' ? [shortMessage] : [],
      );
    // Its holder may still be writing it.
    expect(await codes()).toEqual([]);
    await store.loseHold('run/a');
    expect(await codes()).toEqual([expect.stringMatching(/^entry 2 of run\/a is signed by who wrote it/u)]);
    await reader.close();
  });
});

test('entries acknowledged while many others append are in the newest head', async () => {
  const { store, journal, holds } = await begun();
  const other = await store.open();
  const theirs = await holdsOf(other, ['run/b']);
  const texts = Array.from({ length: 40 }, (_, nr) => note(`${nr}`));
  await Promise.all(
    texts.flatMap((text) => [
      journal.append([text], holds),
      other.append([{ ...text, stream: 'run/b' }], theirs),
    ]),
  );
  expect((await journal.log.head()).size).toBe(2 + 2 * texts.length);
});
