import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { NewEntry, RowQuery, StreamName } from '../../../src/store/journal.ts';
import { compareProjections, selectRows } from '../../../src/store/projected.ts';
import { NOTES, notesProjection } from './projection.ts';
import {
  type FreshStore,
  holdsOf,
  note,
  notes,
  opened,
  openedForReading,
  openedWith,
} from './store-under-test.ts';

const STREAMS: readonly StreamName[] = ['run/a', 'run/b', 'instance/orders', 'instance/users'];

/** Projections are kept with each append. */
export function rowsContract(freshStore: FreshStore): void {
  test('a projection is updated with the append, for writers and readers, and without refused entries', async () => {
    const { store, journal, holds } = await openedWith(freshStore, ...STREAMS);
    await journal.append(
      [note('x', 'run/b'), note('z'), note('y', 'run/b'), note('w', 'instance/orders')],
      holds,
    );
    await expect(journal.append([note('never'), note('', 'run/unheld')], holds)).rejects.toThrow();
    const rows = [
      { key: 'instance/orders', group: 'odd', sort: 'w', value: { count: 1 } },
      { key: 'run/b', group: 'even', sort: 'y', value: { count: 2 } },
      { key: 'run/a', group: 'odd', sort: 'z', value: { count: 1 } },
    ];
    expect(await journal.rows('notes')).toEqual(rows);
    const reader = await openedForReading(store);
    expect(await reader.rows('notes')).toEqual(rows);
    await journal.append([{ stream: 'run/a', type: 'gone', body: null }], holds);
    expect(await reader.rows('notes')).toEqual(rows.slice(0, 2));
  });

  test('rows can be selected by group, key prefix and keys, in either order, up to a limit', async () => {
    const { journal, holds } = await openedWith(freshStore, ...STREAMS);
    await journal.append(
      [...STREAMS, 'run/a' as const].map((stream, at) => note(String(at), stream)),
      holds,
    );
    const keys = async (query: RowQuery) => (await journal.rows('notes', query)).map(({ key }) => key);
    expect(await keys({})).toEqual(['run/b', 'instance/orders', 'instance/users', 'run/a']);
    expect(await keys({ group: 'odd' })).toEqual(['run/b', 'instance/orders', 'instance/users']);
    expect(await keys({ group: 'none' })).toEqual([]);
    expect(await keys({ keyPrefix: 'run/', order: 'descending' })).toEqual(['run/a', 'run/b']);
    expect(await keys({ keyPrefix: 'run/', group: 'odd' })).toEqual(['run/b']);
    expect(await keys({ keys: ['run/a', 'run/none', 'instance/users', 'run/a'] })).toEqual([
      'instance/users',
      'run/a',
    ]);
    expect(await keys({ keys: ['run/a', 'run/b'], group: 'odd', order: 'descending' })).toEqual(['run/b']);
    expect(await keys({ keys: [] })).toEqual([]);
    expect(await keys({ order: 'descending', limit: 2 })).toEqual(['run/a', 'instance/users']);
    expect(await keys({ limit: 0 })).toEqual([]);
    const [first, second] = await journal.rows('notes');
    expect(await keys({ after: second })).toEqual(['instance/users', 'run/a']);
    expect(await keys({ after: second, order: 'descending' })).toEqual(['run/b']);
    expect(await keys({ after: first, group: 'odd', limit: 1 })).toEqual(['instance/orders']);
  });

  test('whatever is appended, the kept rows equal a fold of all entries', async () => {
    const entry = fc.record({
      stream: fc.constantFrom(...STREAMS),
      type: fc.constantFrom('note', 'note', 'note', 'gone', 'other'),
      body: fc.record({ text: fc.string({ maxLength: 5, unit: 'grapheme' }) }),
    });
    const appends = fc.array(fc.array(entry, { minLength: 1, maxLength: 6 }), { maxLength: 8 });
    const { journal, holds } = await openedWith(freshStore, ...STREAMS);
    await fc.assert(
      fc.asyncProperty(appends, fc.constantFrom('ascending', 'descending'), async (groups, order) => {
        for (const group of groups) await journal.append(group as NewEntry[], holds);
        expect(await compareProjections(journal, NOTES)).toEqual([]);
        const all = await journal.rows('notes');
        for (const query of [
          { order },
          { order, group: 'odd', limit: 1 },
          { order, keyPrefix: 'run/' },
          { order, keys: ['run/b', 'instance/orders'] },
        ] as const) {
          expect(await journal.rows('notes', query)).toEqual(selectRows(all, query));
          const whole = selectRows(all, { ...query, limit: all.length });
          for (const [at, after] of whole.entries())
            expect(await journal.rows('notes', { ...query, limit: 2, after })).toEqual(
              whole.slice(at + 1, at + 3),
            );
        }
      }),
      { numRuns: 15 },
    );
  });

  test('a row that was altered is found and named by folding again', async () => {
    const { store, journal, holds } = await openedWith(freshStore, ...STREAMS);
    await journal.append([note('x'), note('y', 'run/b')], holds);
    await store.tamper.setRow('notes', 'run/b', { count: 7 });
    expect(await compareProjections(journal, NOTES)).toMatchObject([
      { projection: 'notes', key: 'run/b', kept: { value: { count: 7 } }, rebuilt: { value: { count: 1 } } },
    ]);
  });

  test('altered rows are rebuilt on request, even while another process writes', async () => {
    const { store, journal, holds } = await openedWith(freshStore, ...STREAMS);
    await journal.append([note('x'), note('y', 'run/b')], holds);
    await store.tamper.setRow('notes', 'run/b', { count: 7 });
    const rebuilt = await opened(store, { rebuild: true });
    expect(await compareProjections(rebuilt, NOTES)).toEqual([]);
    await journal.append([note('z', 'run/b')], holds);
    expect((await rebuilt.rows('notes', { keyPrefix: 'run/b' })).map(({ value }) => value)).toEqual([
      { count: 2 },
    ]);
    expect(await compareProjections(rebuilt, NOTES)).toEqual([]);
  });

  test('a projection of another version is rebuilt by a writer, and folded by a reader', async () => {
    const { store, journal, holds } = await openedWith(freshStore, 'run/a');
    await journal.append([note('x'), note('y')], holds);
    const projections = [notesProjection(2)];
    const rows = [{ key: 'run/a', group: 'even', sort: 'y', value: { count: 20 } }];
    const reader = await openedForReading(store, { projections });
    expect(await reader.rows('notes')).toEqual(rows);
    expect(await reader.rows('notes', { group: 'odd' })).toEqual([]);
    const newer = await opened(store, { projections });
    expect(await newer.rows('notes')).toEqual(rows);
    await newer.append([note('z', 'run/b')], await holdsOf(newer, ['run/b']));
    expect((await newer.rows('notes')).map(({ value }) => value)).toEqual([{ count: 20 }, { count: 10 }]);
    expect(await compareProjections(newer, projections)).toEqual([]);
  });

  test('a reader that folds the rows itself sees what was appended since its last read', async () => {
    const { store, journal, holds } = await openedWith(freshStore, 'run/a', 'run/b');
    await journal.append([note('x')], holds);
    const reader = await openedForReading(store, { projections: [notesProjection(2)] });
    const counts = async () =>
      (await reader.rows('notes', { keys: ['run/a', 'run/c'] })).map(({ value }) => value);
    expect(await counts()).toEqual([{ count: 10 }]);
    expect(await counts()).toEqual([{ count: 10 }]);
    await journal.append([note('y'), note('z', 'run/b')], holds);
    expect(await counts()).toEqual([{ count: 20 }]);
  });

  test('missing entries are skipped when rows are folded again, and no entry is folded twice', async () => {
    const { store, journal, holds } = await openedWith(freshStore, 'run/a');
    await journal.append(notes(1_100), holds);
    await store.tamper.removeEntry(5);
    const reader = await openedForReading(store, { projections: [notesProjection(2)] });
    expect((await reader.rows('notes')).map(({ value }) => value)).toEqual([{ count: 10_990 }]);
  });

  test('two versions of Lifeboat that write to one store never mix their rows: the older one is refused, or keeps its own', async () => {
    const { store, journal, holds } = await openedWith(freshStore, 'run/a');
    await journal.append([note('x')], holds);
    const newer = await opened(store, { projections: [notesProjection(2)] });
    await newer.append([note('y', 'run/b')], await holdsOf(newer, ['run/b']));
    const late = journal.append([note('z')], holds);
    const refusal = await late.then(
      () => undefined,
      (error: unknown) => error,
    );
    if (refusal === undefined) expect(await compareProjections(journal, NOTES)).toEqual([]);
    else expect(refusal).toMatchObject({ code: 'journal.version' });
    expect(await compareProjections(newer, [notesProjection(2)])).toEqual([]);
  });
}
