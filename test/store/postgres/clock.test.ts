import { afterAll, expect, test } from 'vitest';
import { auditVerify } from '../../../src/audit/audit.ts';
import { startCluster } from '../../bench-kit/postgres.ts';
import { holdsOf, note } from '../contract/store-under-test.ts';
import { postgresStore } from './postgres-store.ts';

/* The clock of a team's database is corrected, or another host with another clock takes over. */
const cluster = await startCluster({ open: true });
afterAll(() => cluster.remove());

/** A store, and a way to make the database date later entries some minutes ahead. */
async function made() {
  const store = await postgresStore(cluster);
  const aheadBy = (minutes: number) =>
    cluster.query(
      `alter table lifeboat.entries alter column at set default to_char(
        (clock_timestamp() + interval '${minutes} min') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
      store.database,
    );
  const audited = async () => {
    const reader = await store.openForReading();
    const options = { log: reader.log, places: [], transcriptOf: () => undefined, isShared: true };
    const { findings } = await auditVerify(options);
    await reader.close();
    return findings.filter(({ severity }) => severity === 'problem');
  };
  return { store, aheadBy, audited };
}

test('a clock that was put back by an hour is recorded in the log once, and is not reported as damage', async () => {
  const { store, aheadBy, audited } = await made();
  const [journal, other] = [await store.open(), await store.open()];
  const [mine, theirs] = [await holdsOf(journal, ['run/a']), await holdsOf(other, ['run/b'])];
  await aheadBy(60);
  await journal.append([note('ahead')], mine);
  await aheadBy(0);
  await Promise.all([
    journal.append([note('right')], mine),
    other.append([{ ...note('right'), stream: 'run/b' }], theirs),
  ]);
  await journal.append([note('later')], mine);
  const moved = (await journal.read('store/log')).filter(({ type }) => type === 'clock.moved');
  expect(moved).toMatchObject([{ body: { seconds: expect.closeTo(-3600, -3) } }]);
  expect((await journal.read('run/a')).map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(await audited()).toEqual([]);
});

test('a clock that is slightly behind is not recorded', async () => {
  const { store, aheadBy, audited } = await made();
  const journal = await store.open();
  const holds = await holdsOf(journal, ['run/a']);
  await aheadBy(1);
  await journal.append([note('ahead')], holds);
  await aheadBy(0);
  await journal.append([note('right')], holds);
  expect((await journal.read('store/log')).map(({ type }) => type)).toEqual(['log.begun']);
  expect(await audited()).toEqual([]);
});

test('the lease of a process that died before its clock was put back ends as soon as any other', async () => {
  const { store } = await made();
  const [journal, other] = [await store.open(), await store.open()];
  await journal.hold('run/a');
  const lease = () =>
    cluster.query<{ readonly left: number }>(
      `select extract(epoch from until - clock_timestamp())::float8 as left from lifeboat.leases
       where resource = 'run/a'`,
      store.database,
    );
  await cluster.query("update lifeboat.leases set until = until + interval '1 hour'", store.database);
  // It is still held: its process may be alive and renew it.
  await expect(other.hold('run/a')).rejects.toMatchObject({ code: 'journal.held' });
  const [after] = await lease();
  expect(after?.left).toBeGreaterThan(0);
  expect(after?.left).toBeLessThan(16);
});
