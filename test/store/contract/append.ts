import { expect, test } from 'vitest';
import { LOG_STREAM } from '../../../src/store/journal.ts';
import {
  type FreshStore,
  holdsOf,
  note,
  notes,
  opened,
  openedForReading,
  openedWith,
} from './store-under-test.ts';

/** What is appended can be read back. */
export function appendContract(freshStore: FreshStore): void {
  test('entries are numbered without gaps in their stream and overall, and read back as they were appended', async () => {
    const { journal, holds } = await openedWith(freshStore, 'run/a', 'instance/orders');
    const first = await journal.append([note('one')], holds);
    const rest = await journal.append([note('two'), note('ledger', 'instance/orders'), note('three')], holds);
    const read = await journal.read('run/a');
    expect(read).toEqual([...first, ...rest].filter(({ stream }) => stream === 'run/a'));
    expect(read.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect([...first, ...rest].map(({ index }) => index)).toEqual([1, 2, 3, 4]);
    expect(await journal.read('run/a', 3)).toEqual(read.slice(2));
    expect(await journal.read('run/a', 4)).toEqual([]);
  });

  test('every entry has a time and an author', async () => {
    const store = await freshStore();
    const journal = await opened(store, { by: 'Zoë "on call"' });
    const [entry] = await journal.append([note('one')], await holdsOf(journal, ['run/a']));
    expect(entry).toMatchObject({
      by: 'Zoë "on call"',
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u),
    });
    expect(Math.abs(Date.parse(entry?.at ?? '') - Date.now())).toBeLessThan(60_000);
  });

  test('the clock that stamps entries can be asked, and is never behind them', async () => {
    const store = await freshStore();
    const journal = await opened(store);
    const clock = await journal.clock();
    const [entry] = await journal.append([note('one')], await holdsOf(journal, ['run/a']));
    expect(clock().getTime()).toBeGreaterThanOrEqual(Date.parse(entry?.at ?? ''));
    await journal.close();
    const reader = await openedForReading(store);
    expect((await reader.clock())().getTime()).toBeGreaterThanOrEqual(Date.parse(entry?.at ?? ''));
  });

  test('a name of any length and characters is accepted: it is cut to 200 whole characters', async () => {
    const store = await freshStore();
    const journal = await opened(store, { by: `${'é'.repeat(199)}\u{1f600}\ud800` });
    await journal.append([note('one')], await holdsOf(journal, ['run/a']));
    expect(await journal.read('run/a')).toMatchObject([{ by: `${'é'.repeat(199)}\ufffd` }]);
  });

  test('the first append of a store begins its log: a random name, and the key that signs', async () => {
    const { store, journal, holds } = await openedWith(freshStore, 'run/a');
    expect(await journal.read(LOG_STREAM)).toEqual([]);
    await journal.append([note('one')], holds);
    await journal.append([note('two')], holds);
    expect(await journal.read(LOG_STREAM)).toMatchObject([
      {
        index: 0,
        seq: 1,
        type: 'log.begun',
        body: {
          origin: expect.stringMatching(/^lifeboat\/[0-9a-f]{16}$/u),
          publicKey: store.signer.publicKey,
          format: 1,
        },
      },
    ]);
  });

  test('a stream that was never written is empty and has an empty head', async () => {
    const journal = await opened(await freshStore());
    expect(await journal.read('run/nobody')).toEqual([]);
    expect(await journal.head('run/nobody')).toEqual({ stream: 'run/nobody', seq: 0, hash: '' });
    expect(await journal.streams()).toEqual([]);
  });

  test('one append writes all of its streams, or none', async () => {
    const { journal, holds } = await openedWith(freshStore, 'run/a', 'instance/orders');
    await journal.append([note('run'), note('ledger', 'instance/orders'), note('run again')], holds);
    expect((await journal.read('run/a')).map(({ seq }) => seq)).toEqual([1, 2]);
    const before = await journal.log.head();
    const bad = { stream: 'instance/orders', type: 'note', body: { number: Number.NaN } } as const;
    await expect(journal.append([note('three'), bad], holds)).rejects.toMatchObject({
      code: 'journal.bad-entry',
    });
    expect(await journal.read('run/a')).toHaveLength(2);
    expect(await journal.read('instance/orders')).toHaveLength(1);
    expect(await journal.log.head()).toEqual(before);
  });

  test('appending nothing writes nothing, not even the beginning of the log', async () => {
    const journal = await opened(await freshStore());
    expect(await journal.append([], [])).toEqual([]);
    expect(await journal.log.head()).toMatchObject({ size: 0, note: undefined });
  });

  test('heads are listed by prefix, without other streams', async () => {
    const { journal, holds } = await openedWith(freshStore, 'run/b', 'run/a', 'instance/z');
    await journal.append([note('1', 'run/b'), note('2'), note('3', 'instance/z'), note('4')], holds);
    const all = await journal.streams();
    expect(all.map(({ stream, seq }) => [stream, seq])).toEqual([
      ['instance/z', 1],
      ['run/a', 2],
      ['run/b', 1],
      ['store/log', 1],
    ]);
    expect((await journal.streams('run/')).map(({ stream }) => stream)).toEqual(['run/a', 'run/b']);
    expect(await journal.streams('run/c')).toEqual([]);
    for (const head of all) {
      expect(await journal.head(head.stream)).toEqual(head);
      expect((await journal.read(head.stream)).at(-1)).toMatchObject({ seq: head.seq, hash: head.hash });
    }
  });

  test('concurrent appends follow one another', async () => {
    const { journal, holds } = await openedWith(freshStore, 'run/a');
    const appends = notes(20).map((one) => journal.append([one], holds));
    expect((await Promise.all(appends)).map(([entry]) => entry?.seq)).toEqual(
      notes(20).map((_, at) => at + 1),
    );
    expect(await journal.read('run/a')).toHaveLength(20);
  });

  test('two writers of different streams append to one log', async () => {
    const store = await freshStore();
    const both = await Promise.all([opened(store), opened(store)]);
    const holds = [await holdsOf(both[0], ['run/a']), await holdsOf(both[1], ['run/b'])];
    for (let round = 0; round < 5; round += 1) {
      await both[0].append([note('a')], holds[0] ?? []);
      await both[1].append([note('b', 'run/b'), note('b', 'run/b')], holds[1] ?? []);
    }
    const indices = [...(await both[1].read('run/a')), ...(await both[0].read('run/b'))].map(
      ({ index }) => index,
    );
    expect(indices.sort((a, b) => a - b)).toEqual(notes(15).map((_, at) => at + 1));
  });

  test('a reader sees what a live writer has written', async () => {
    const { store, journal, holds } = await openedWith(freshStore, 'run/a');
    const [entry] = await journal.append([note('one')], holds);
    const reader = await openedForReading(store);
    expect(await reader.read('run/a')).toEqual([entry]);
    expect(await reader.streams('run/')).toEqual([await journal.head('run/a')]);
    await journal.append([note('two')], holds);
    expect((await reader.head('run/a')).seq).toBe(2);
    expect(await reader.log.head()).toEqual(await journal.log.head());
  });

  test('this process is notified of the wake-ups of an append once it is durable, and not of a refused one', async () => {
    const { journal, holds } = await openedWith(freshStore, 'run/a');
    const told: unknown[] = [];
    const [first, second] = [1, 2].map((nr) =>
      journal.onWake((wakes) => told.push(...wakes.map((wake) => ({ ...wake, nr })))),
    );
    const at = new Date('2030-01-02T03:04:05.678Z');
    await journal.append([note('one')], holds, [{ run: 'a' }, { run: 'b', at }]);
    await journal.append([note('two')], holds);
    expect(told).toEqual([
      { run: 'a', nr: 1 },
      { run: 'b', at, nr: 1 },
      { run: 'a', nr: 2 },
      { run: 'b', at, nr: 2 },
    ]);
    first?.();
    await expect(journal.append([note('x', 'run/b')], holds, [{ run: 'c' }])).rejects.toThrow();
    await journal.append([note('three')], holds, [{ run: 'd' }]);
    expect(told.slice(4)).toEqual([{ run: 'd', nr: 2 }]);
    second?.();
  });

  test('after close every append is refused', async () => {
    const store = await freshStore();
    const journal = await store.open();
    const holds = await holdsOf(journal, ['run/a']);
    await journal.close();
    await journal.close();
    await expect(journal.append([note('x')], holds)).rejects.toMatchObject({ code: 'journal.closed' });
    await expect(journal.hold('run/a')).rejects.toMatchObject({ code: 'journal.closed' });
  });

  test('after a failed write the journal refuses further writes', async () => {
    const { store, journal, holds } = await openedWith(freshStore, 'run/a');
    await journal.append([note('one')], holds);
    await store.breakDisk();
    await expect(journal.append([note('two')], holds)).rejects.toMatchObject({ code: 'journal.lost' });
    await expect(journal.append([note('three')], holds)).rejects.toMatchObject({ code: 'journal.lost' });
  });
}
