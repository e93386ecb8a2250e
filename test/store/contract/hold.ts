import { expect, test } from 'vitest';
import { type Hold, LOG_STREAM } from '../../../src/store/journal.ts';
import { type FreshStore, holdsOf, note, opened, openedWith } from './store-under-test.ts';

/** The right to write a stream, which each append proves. */
export function holdContract(freshStore: FreshStore): void {
  test('a stream has one holder; it is free again after release and after close', async () => {
    const store = await freshStore();
    const [mine, theirs] = [await store.open(), await opened(store)];
    const hold = await mine.hold('run/a');
    expect(hold).toMatchObject({ resource: 'run/a', lost: { aborted: false } });
    expect(hold.lasts()).toBeGreaterThan(0);
    await expect(theirs.hold('run/a')).rejects.toMatchObject({
      code: 'journal.held',
      shortMessage: expect.stringMatching(/^run\/a is held by .+ since \S+/u),
    });
    await (await theirs.hold('run/b')).release();
    await hold.release();
    await hold.release();
    await (await theirs.hold('run/a')).release();
    await mine.hold('run/a');
    await mine.close();
    await (await theirs.hold('run/a')).release();
  });

  test('the holder of a stream is named to others, and there is none once it is free', async () => {
    const store = await freshStore();
    const journal = await opened(store);
    expect(await journal.holder('run/a')).toBeUndefined();
    const hold = await journal.hold('run/a');
    const named = { pid: process.pid, isHere: true, since: expect.stringMatching(/^\d{4}-.+Z$/u) };
    expect(await journal.holder('run/a')).toMatchObject(named);
    expect(await journal.holder('run/b')).toBeUndefined();
    await hold.release();
    expect(await journal.holder('run/a')).toBeUndefined();
  });

  test('each hold of a stream has a larger token than the one before, for any holder', async () => {
    const store = await freshStore();
    const [mine, theirs] = [await opened(store), await opened(store)];
    let last = 0;
    for (const journal of [mine, theirs, mine, mine, theirs]) {
      const hold = await journal.hold('run/a');
      expect(hold.token).toBeGreaterThan(last);
      last = hold.token;
      await hold.release();
    }
  });

  test('only its holder writes a stream; entries of the store itself need no hold', async () => {
    const { store, journal, holds } = await openedWith(freshStore, 'run/a');
    const other = await opened(store);
    const theirs = await holdsOf(other, ['run/b']);
    for (const given of [[], theirs, holds.map((hold) => ({ ...hold, resource: 'run/b' }) as const)])
      await expect(other.append([note('x')], given)).rejects.toMatchObject({ code: 'journal.unheld' });
    const both = [note('x'), note('ledger', 'instance/orders')];
    await expect(journal.append(both, holds)).rejects.toMatchObject({ code: 'journal.unheld' });
    expect(await journal.streams()).toEqual([]);
    await journal.append([{ stream: LOG_STREAM, type: 'loss.accepted', body: null }], []);
    expect(await journal.head(LOG_STREAM)).toMatchObject({ seq: 2 });
  });

  test('a released hold is no longer valid', async () => {
    const { journal, holds } = await openedWith(freshStore, 'run/a');
    await journal.append([note('one')], holds);
    for (const hold of holds) await hold.release();
    expect(holds.map((hold) => hold.lasts())).toEqual([0]);
    await expect(journal.append([note('two')], holds)).rejects.toMatchObject({ code: 'journal.unheld' });
  });

  test('a holder whose stream another process took over is refused, and its hold is lost', async () => {
    const { store, journal, holds } = await openedWith(freshStore, 'run/a');
    await journal.append([note('one')], holds);
    await store.loseHold('run/a');
    const other = await opened(store);
    const taken = await holdsOf(other, ['run/a']);
    await expect(journal.append([note('late')], holds)).rejects.toMatchObject({ code: 'journal.conflict' });
    await expect(journal.append([note('later')], holds)).rejects.toMatchObject({ code: 'journal.conflict' });
    expect(holds[0]?.lost).toMatchObject({ aborted: true, reason: { code: 'journal.lost-hold' } });
    expect(holds.map((hold) => hold.lasts())).toEqual([0]);
    await other.append([note('two')], taken);
    for (const hold of holds) await hold.release();
    await other.append([note('three')], taken);
    expect((await other.read('run/a')).map(({ body }) => body)).toEqual(
      ['one', 'two', 'three'].map((text) => ({ text })),
    );
  });

  test('a hold that may be lost is refused even before another process takes the stream over', async () => {
    const { store, journal, holds } = await openedWith(freshStore, 'run/a');
    await store.loseHold('run/a');
    expect(holds.map((hold) => hold.lasts())).toEqual([0]);
    expect(holds[0]?.lost).toMatchObject({ aborted: true, reason: { code: 'journal.lost-hold' } });
    await expect(journal.append([note('one')], holds)).rejects.toMatchObject({ code: 'journal.lost-hold' });
    expect(await journal.read('run/a')).toEqual([]);
  });

  test('nothing is appended under a further hold that was released, or that another process took over', async () => {
    const { store, journal, holds } = await openedWith(freshStore, 'run/child');
    const [plan, left] = await holdsOf(journal, ['run/plan', 'run/left']);
    const append = (text: string, ...under: readonly (Hold | undefined)[]) =>
      journal.append(
        [note(text, 'run/child')],
        holds,
        [],
        under.filter((one) => one !== undefined),
      );
    await append('one', plan, left);
    await left?.release();
    await expect(append('two', plan, left)).rejects.toMatchObject({ code: 'journal.unheld' });
    await store.loseHold('run/plan');
    const other = await opened(store);
    await holdsOf(other, ['run/plan']);
    await expect(append('three', plan)).rejects.toMatchObject({ code: 'journal.conflict' });
    await append('four');
    expect((await other.read('run/child')).map(({ body }) => body)).toEqual(
      ['one', 'four'].map((text) => ({ text })),
    );
  });

  test('an invalid stream name cannot be held', async () => {
    const journal = await opened(await freshStore());
    await expect(journal.hold('run/../../etc')).rejects.toMatchObject({ code: 'journal.bad-entry' });
  });
}
