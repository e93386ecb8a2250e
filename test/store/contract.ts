import { describe, expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../src/secret.ts';
import { canonicalBody } from '../../src/store/canonical.ts';
import { verifyChain } from '../../src/store/chain.ts';
import { type Entry, type Journal, type Json, type NewEntry, ZERO_HASH } from '../../src/store/journal.ts';

/** A store under test: `open` gives another writer on the same data each time it is called. */
export interface StoreUnderTest {
  open(): Promise<Journal>;
}

const note = (text: string, stream: NewEntry['stream'] = 'run/a'): NewEntry => ({
  stream,
  type: 'note',
  body: { text },
});

/** What every store behind the port promises. `freshStore` makes an empty store for one test. */
export function journalContract(name: string, freshStore: () => StoreUnderTest): void {
  const opened = async (store = freshStore()) => {
    const journal = await store.open();
    onTestFinished(() => journal.close());
    return journal;
  };

  describe(`${name} keeps the journal's contract`, () => {
    test('entries are numbered without a gap, chained by hash, and read back as they were appended', async () => {
      const journal = await opened();
      const first = await journal.append([note('one')]);
      const rest = await journal.append([note('two'), note('three')]);
      const read = await journal.read('run/a');
      expect(read).toEqual([...first, ...rest]);
      expect(read.map(({ seq }) => seq)).toEqual([1, 2, 3]);
      expect(read[0]?.prev).toBe(ZERO_HASH);
      expect(verifyChain(read.map(rowOf)).problems).toEqual([]);
      expect(await journal.read('run/a', 3)).toEqual(read.slice(2));
    });

    test('a stream nobody wrote to is empty and has a head of zeros', async () => {
      const journal = await opened();
      expect(await journal.read('run/nobody')).toEqual([]);
      expect(await journal.head('run/nobody')).toEqual({ stream: 'run/nobody', seq: 0, hash: ZERO_HASH });
    });

    test('one append writes several streams, or none of them', async () => {
      const journal = await opened();
      await journal.append([note('run'), note('ledger', 'instance/orders'), note('run again')]);
      expect((await journal.read('run/a')).map(({ seq }) => seq)).toEqual([1, 2]);
      const bad = { stream: 'instance/orders', type: 'note', body: { number: Number.NaN } } as const;
      await expect(journal.append([note('three'), bad])).rejects.toMatchObject({ code: 'journal.bad-entry' });
      expect(await journal.read('run/a')).toHaveLength(2);
      expect(await journal.read('instance/orders')).toHaveLength(1);
    });

    test('a writer whose idea of the head is old is refused, and nothing of its append is written', async () => {
      const store = freshStore();
      const [mine, theirs] = [await opened(store), await opened(store)];
      const head = await mine.head('run/a');
      await theirs.append([note('theirs')], [head]);
      const late = mine.append([note('mine'), note('ledger', 'instance/orders')], [head]);
      await expect(late).rejects.toMatchObject({
        code: 'journal.conflict',
        shortMessage: 'run/a is at entry 1, this writer believed in entry 0',
      });
      expect(await mine.read('instance/orders')).toEqual([]);
      await mine.append([note('mine')], [await mine.head('run/a')]);
      expect(await theirs.read('run/a')).toHaveLength(2);
    });

    test('heads are listed by prefix, and no other stream with them', async () => {
      const journal = await opened();
      await journal.append([
        note('1', 'run/b'),
        note('2', 'run/a'),
        note('3', 'instance/z'),
        note('4', 'run/a'),
      ]);
      const all = await journal.streams();
      expect(all.map(({ stream, seq }) => [stream, seq])).toEqual([
        ['instance/z', 1],
        ['run/a', 2],
        ['run/b', 1],
      ]);
      expect((await journal.streams('run/')).map(({ stream }) => stream)).toEqual(['run/a', 'run/b']);
      expect(await journal.streams('run/c')).toEqual([]);
      for (const head of all) expect(await journal.head(head.stream)).toEqual(head);
    });

    test.each<[string, Json]>([
      ['order of names', { b: 1, a: 2, é: 3, '\u{1f600}': 4, '\ufb33': 5 }],
      ['numbers', [0, -0, 1e21, 1e-7, 0.1, 2 ** 53, 5e-324]],
      ['controls and quotes', 'a"\\\u0000\u001b\u009b\u2028\u202e/'],
      ['empty things', [{}, [], '', null, false]],
      ['a name that is special in JavaScript', JSON.parse('{"__proto__":{"polluted":true}}')],
    ])('a body survives exactly: %s', async (_title, body) => {
      const journal = await opened();
      await journal.append([{ stream: 'run/a', type: 'note', body }]);
      const [entry] = await journal.read('run/a');
      expect(JSON.stringify(entry?.body)).toBe(canonicalBody(body, 'body'));
    });

    test('half a character from a hostile server cannot stop a run: it becomes U+FFFD', async () => {
      const journal = await opened();
      const body = { 'k\udc00': 'a\ud800b', list: ['\\ud800', '\u{1f600}'] };
      const [entry] = await journal.append([{ stream: 'run/a', type: 'note', body }]);
      expect(entry?.body).toEqual({ 'k\ufffd': 'a\ufffdb', list: ['\\ud800', '\u{1f600}'] });
      expect(await journal.read('run/a')).toEqual([entry]);
    });

    test.each<[string, Partial<NewEntry>, string]>([
      ['a body over 1 MiB', { body: 'é'.repeat(600_000) }, 'journal.too-large'],
      [
        'a body nested 101 levels deep',
        { body: JSON.parse('['.repeat(101) + ']'.repeat(101)) },
        'journal.too-large',
      ],
      [
        'infinity beside half a character',
        { body: ['\ud800', Number.POSITIVE_INFINITY] },
        'journal.bad-entry',
      ],
      ['a stream that leaves its folder', { stream: 'run/../../etc' }, 'journal.bad-entry'],
      ['a type with a line feed', { type: 'a\nb' }, 'journal.bad-entry'],
    ])('%s is refused and leaves nothing behind', async (_title, wrong, code) => {
      const journal = await opened();
      await expect(journal.append([note('before'), { ...note('x'), ...wrong }])).rejects.toMatchObject({
        code,
      });
      expect(await journal.streams()).toEqual([]);
      await journal.append([note('the journal goes on')]);
    });

    test('a body of just under 1 MiB and 100 levels is accepted', async () => {
      const journal = await opened();
      await journal.append([
        { stream: 'run/a', type: 'note', body: 'x'.repeat(1024 * 1024 - 2) },
        { stream: 'run/a', type: 'note', body: JSON.parse(`${'['.repeat(100)}"[[["${']'.repeat(100)}`) },
      ]);
      expect(await journal.read('run/a')).toHaveLength(2);
    });

    test('a guarded secret is refused wherever it stands in an entry', async () => {
      const journal = await opened();
      journal.guard(new Secret('correct horse battery'));
      const leak = {
        stream: 'run/a',
        type: 'note',
        body: { deep: [{ x: 'my correct horse battery!' }] },
      } as const;
      await expect(journal.append([leak])).rejects.toMatchObject({ code: 'journal.secret' });
      await journal.append([note('correct horse')]);
    });

    test('a Secret object is refused although nobody registered it', async () => {
      const journal = await opened();
      const body = { key: new Secret('never') } as unknown as Json;
      await expect(journal.append([{ stream: 'run/a', type: 'note', body }])).rejects.toMatchObject({
        code: 'journal.secret',
      });
    });

    test('listeners hear of every append in order, even when one of them appends or throws', async () => {
      const journal = await opened();
      const heard: string[] = [];
      const followUps: Promise<unknown>[] = [];
      const warned = new Promise((resolve) => process.once('warning', resolve));
      journal.onAppended(([entry]) => {
        if (entry?.seq === 1) followUps.push(journal.append([note('two')]));
      });
      journal.onAppended(() => {
        throw new Error('a listener with a bug');
      });
      const stop = journal.onAppended((entries) => heard.push(...entries.map(({ seq }) => String(seq))));
      await journal.append([note('one')]);
      await Promise.all(followUps);
      stop();
      await journal.append([note('three')]);
      expect(heard).toEqual(['1', '2']);
      expect(await warned).toMatchObject({ message: 'a listener with a bug' });
    });

    test('a stream has one holder; it is free again after release and after close', async () => {
      const store = freshStore();
      const [mine, theirs] = [await store.open(), await opened(store)];
      const hold = await mine.hold('run/a');
      await expect(theirs.hold('run/a')).rejects.toMatchObject({ code: 'journal.held' });
      await (await theirs.hold('run/b')).release();
      hold.release();
      hold.release();
      const next = await theirs.hold('run/a');
      next.release();
      await mine.hold('run/a');
      await mine.close();
      (await theirs.hold('run/a')).release();
    });

    test('after close every append is refused', async () => {
      const journal = await freshStore().open();
      await journal.close();
      await journal.close();
      await expect(journal.append([note('x')])).rejects.toMatchObject({ code: 'journal.closed' });
    });
  });
}

function rowOf(entry: Entry) {
  return { ...entry, body: canonicalBody(entry.body, 'body') };
}
