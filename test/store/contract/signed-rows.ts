import { expect, test } from 'vitest';
import { assertNotInDoubt } from '../../../src/runner/assert-not-in-doubt.ts';
import { openRunsOn } from '../../../src/runner/runs.ts';
import type { JournalReader } from '../../../src/store/journal.ts';
import { PROJECTIONS } from '../../../src/store/projected.ts';
import { ledgerNamesOf } from '../../../src/store/projections/instance-names.ts';
import { armed, outcome } from '../../audit/armed.ts';
import { type FreshStore, holdsOf, note, opened, openedForReading } from './store-under-test.ts';

const BOTH = { projections: PROJECTIONS };
/** Lists that decide whether something is sent, and the notes that sign them. */
const LISTS = ['pending-calls', 'runs', '+vouchers'];

async function decisionsOf(journal: JournalReader) {
  const open = (await openRunsOn(journal, ['orders'])).map(({ runId }) => runId);
  const refused = await assertNotInDoubt(journal, ['orders']).then(
    () => 'nothing in doubt',
    (error: { readonly code: string }) => error.code,
  );
  return { open, refused };
}

/** Rows that decisions depend on are what the entries produce, even after they were altered. */
export function signedRowsContract(freshStore: FreshStore): void {
  for (const act of ['delete', 'regroup'] as const)
    test(`a call in doubt and an open run keep their state when their rows are changed (${act}), at every point of the call`, async () => {
      const points = [...armed, outcome('unknown')];
      for (let point = 1; point <= points.length; point += 1)
        for (const lists of [LISTS.slice(0, 2), LISTS]) {
          const store = await freshStore();
          const journal = await opened(store, BOTH);
          const holds = await holdsOf(journal, ['run/a', 'run/b']);
          for (const entry of points.slice(0, point)) await journal.append([entry], holds);
          const isArmed = points.slice(0, point).some(({ type }) => type === 'intent.armed');
          const right = { open: ['a'], refused: isArmed ? 'call.in-doubt' : 'nothing in doubt' };
          expect(await decisionsOf(journal)).toEqual(right);
          expect(await journal.log.check()).toEqual([]);
          for (const list of lists) await store.tamper.rows(act, list);
          expect(await decisionsOf(journal), 'the writer').toEqual(right);
          expect(await decisionsOf(await openedForReading(store, BOTH)), 'a reader').toEqual(right);
          expect((await journal.log.check()).join(), 'an audit').toContain(
            'runs, which follows from the entries',
          );
          // Appends that do not touch them do not make them right.
          await journal.append([note('other', 'run/b')], holds);
          expect(await decisionsOf(journal), 'after an append').toEqual(right);
          const next = await opened(store, BOTH);
          expect(await decisionsOf(next), 'the next command').toEqual(right);
          expect(await next.log.check()).toEqual([]);
        }
    });

  test('for a process that has asked before, the name of an instance is that of the entries, whatever came or changed since', async () => {
    const store = await freshStore();
    const journal = await opened(store, BOTH);
    const reader = await openedForReading(store, BOTH);
    const idOf = (at: number) => `0000000${at}-aaaa-4bbb-8ccc-dddddddddddd`;
    const urlOf = (at: number) => `https://backup.example.com/service-instances/${idOf(at)}`;
    const all = [1, 2, 3, 4, 5, 6].map(urlOf);
    let begun = 0;
    const name = async () => {
      begun += 1;
      const hold = await journal.hold(`instance/db-${begun}`);
      await journal.append(
        [{ stream: hold.resource, type: 'call.begun', body: { url: urlOf(begun) } }],
        [hold],
      );
    };
    const isRight = async (...more: readonly JournalReader[]) => {
      for (const one of [journal, reader, ...more]) {
        const known = await ledgerNamesOf(one, all);
        expect(all.map(known)).toEqual(all.map((_, at) => (at < begun ? `db-${at + 1}` : undefined)));
        const last = urlOf(begun);
        expect((await ledgerNamesOf(one, [last]))(last)).toBe(`db-${begun}`);
      }
    };
    for (let at = 0; at < 4; at += 1) {
      await name();
      await isRight();
    }
    await store.tamper.setRow('instance-names', idOf(2), 'another');
    await isRight(await openedForReading(store, BOTH));
    await name();
    await isRight(await openedForReading(store, BOTH));
    await store.tamper.rows('delete', 'instance-names');
    await name();
    await isRight(await openedForReading(store, BOTH));
    await isRight(await opened(store, BOTH));
  });

  test('names that others add while several requests run are seen by all of these requests', async () => {
    const store = await freshStore();
    const [writer, journal] = [await opened(store, BOTH), await opened(store, BOTH)];
    const urlOf = (at: number) =>
      `https://backup.example.com/service-instances/${String(at).padStart(8, '0')}-aaaa-4bbb-8ccc-dddddddddddd`;
    for (let at = 1; at <= 30; at += 1) {
      const hold = await writer.hold(`instance/db-${at}`);
      const adding = writer.append(
        [{ stream: hold.resource, type: 'call.begun', body: { url: urlOf(at) } }],
        [hold],
      );
      const urls = Array.from({ length: at - 1 }, (_, before) => urlOf(before + 1));
      const asked = await Promise.all(Array.from({ length: 5 }, () => ledgerNamesOf(journal, urls)));
      for (const known of asked) expect(urls.map(known)).toEqual(urls.map((_, before) => `db-${before + 1}`));
      await adding;
    }
  });
}
