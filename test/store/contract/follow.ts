import { expect, test } from 'vitest';
import type { Entry } from '../../../src/store/journal.ts';
import {
  type FreshStore,
  gather,
  holdsOf,
  note,
  notes,
  opened,
  openedForReading,
  openedWith,
} from './store-under-test.ts';

/** Entries as they become durable. */
export function followContract(freshStore: FreshStore): void {
  test('a follower gets existing and then new entries, in the order of the log, from the leaf that it requests', async () => {
    const { journal, holds } = await openedWith(freshStore, 'run/a', 'run/b');
    await journal.append(notes(3), holds);
    const followed = await gather(journal, 6, {
      meanwhile: async () => {
        await journal.append([note('4'), note('1', 'run/b')], holds);
        await journal.append([note('5')], holds);
      },
    });
    expect(followed.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6].slice(0, followed.length));
    expect(followed.slice(1, 4)).toEqual((await journal.read('run/a')).slice(0, 3));
    expect((await gather(journal, 2, { from: 5 })).map(({ index }) => index)).toEqual([5, 6]);
  });

  test('entries that this process appends arrive at once', async () => {
    const { journal, holds } = await openedWith(freshStore, 'run/a');
    const stop = new AbortController();
    const following = journal.follow(0, stop.signal)[Symbol.asyncIterator]();
    const first = following.next();
    await journal.append([note('one')], holds);
    const turn = new Promise((resolve) => setImmediate(resolve));
    expect(await Promise.race([first, turn.then(() => 'late')])).toMatchObject({ done: false });
    stop.abort();
    expect(await following.next()).toMatchObject({ done: true });
  });

  test('entries of another process arrive too, at a writer and at a reader', async () => {
    const store = await freshStore();
    const [journal, reader] = [await opened(store), await openedForReading(store)];
    const meanwhile = () => store.appendElsewhere('run/b', 3);
    const both = [gather(journal, 4, { meanwhile }), gather(reader, 4)];
    for (const followed of await Promise.all(both))
      expect(followed.map(({ stream, seq }) => [stream, seq])).toEqual([
        ['store/log', 1],
        ['run/b', 1],
        ['run/b', 2],
        ['run/b', 3],
      ]);
  });

  test('a follower that appends itself misses nothing and receives nothing twice', async () => {
    const { journal, holds } = await openedWith(freshStore, 'run/a');
    const enough = new AbortController();
    const heard: number[] = [];
    await journal.append([note('1')], holds);
    for await (const group of journal.follow(0, enough.signal)) {
      heard.push(...group.map(({ index }) => index));
      if (heard.length < 10) await journal.append([note('more'), note('and more')], holds);
      else enough.abort();
    }
    expect(heard).toEqual(Array.from({ length: heard.length }, (_, index) => index));
  });

  test('many entries arrive in groups, and completely', async () => {
    const { journal, holds } = await openedWith(freshStore, 'run/a');
    await journal.append(notes(1_234), holds);
    expect(await gather(journal, 1_235)).toHaveLength(1_235);
  });

  test('a follower of a store that lost an entry receives each of the others once', async () => {
    const { store, journal, holds } = await openedWith(freshStore, 'run/a');
    await journal.append(notes(7), holds);
    await store.tamper.removeEntry(5);
    const reader = await openedForReading(store);
    const stop = new AbortController();
    const following = reader.follow(0, stop.signal)[Symbol.asyncIterator]();
    const { value: first = [] } = await following.next();
    const second = following.next();
    // Answered after the follower's own queries.
    for (let times = 0; times < 2; times += 1) await reader.read('run/a');
    stop.abort();
    expect(first.map(({ index }: Entry) => index)).toEqual([0, 1, 2, 3, 4, 6, 7]);
    expect(await second).toMatchObject({ done: true });
  });

  test('following ends with the signal, with the journal, and before it begins', async () => {
    const store = await freshStore();
    const journal = await store.open();
    await journal.append([note('one')], await holdsOf(journal, ['run/a']));
    const over: string[] = [];
    const follow = async (name: string, signal: AbortSignal) => {
      for await (const _ of journal.follow(2, signal)) throw new Error('nothing is there');
      over.push(name);
    };
    await follow('aborted before', AbortSignal.abort());
    const stop = new AbortController();
    const ends = [follow('aborted', stop.signal), follow('closed', new AbortController().signal)];
    stop.abort();
    await ends[0];
    await journal.close();
    await ends[1];
    expect(over).toEqual(['aborted before', 'aborted', 'closed']);
  });
}
