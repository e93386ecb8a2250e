import { expect, test } from 'vitest';
import { assertNotInDoubt } from '../../../src/runner/assert-not-in-doubt.ts';
import { openRunsOn } from '../../../src/runner/runs.ts';
import type { JournalReader } from '../../../src/store/journal.ts';
import { PROJECTIONS } from '../../../src/store/projected.ts';
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
    test(`a call in doubt and an open run stay what they are when their rows are changed (${act}), at every point of the call`, async () => {
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
}
