import { describe, expect, test } from 'vitest';
import { hashOf } from '../../../src/store/canonical.ts';
import { freshSigner } from '../fresh-signer.ts';
import {
  type FreshStore,
  holdsOf,
  note,
  notes,
  opened,
  openedForReading,
  openedWith,
  type StoreUnderTest,
} from './store-under-test.ts';

type Damage = readonly [what: string, tamper: (store: StoreUnderTest) => Promise<void>];

/** Damage that makes every writer stop, even one that was already open. */
const UNSIGNED: readonly Damage[] = [
  ['the last entry is removed', ({ tamper }) => tamper.removeEntry(7)],
  ['an entry is added behind the newest head', ({ tamper }) => tamper.addEntry()],
  ['the newest head is removed', ({ tamper }) => tamper.removeNewestHead()],
  ['the newest head is not a note', ({ tamper }) => tamper.setNewestHead('oops')],
  [
    'the newest head is signed by a key that the log does not know',
    async (store) => {
      const { log } = await openedForReading(store);
      const { size, root } = await log.head();
      const origin = (await log.origin()) ?? '';
      await store.tamper.setNewestHead(freshSigner().sign({ origin, size, root, armed: [] }));
    },
  ],
  [
    'the newest head is signed for another root',
    async (store) => {
      const { log } = await openedForReading(store);
      const [origin, { size }] = [(await log.origin()) ?? '', await log.head()];
      await store.tamper.setNewestHead(store.signer.sign({ origin, size, root: '0'.repeat(64), armed: [] }));
    },
  ],
  [
    'the newest head is signed for another log',
    async (store) => {
      const { size, root } = await (await openedForReading(store)).log.head();
      const origin = `lifeboat/${'0'.repeat(16)}`;
      await store.tamper.setNewestHead(store.signer.sign({ origin, size, root, armed: [] }));
    },
  ],
];

/** A store that was altered with a database tool. */
export function damageContract(freshStore: FreshStore): void {
  async function storeOf8() {
    const scene = await openedWith(freshStore, 'run/a');
    for (const one of notes(7)) await scene.journal.append([one], scene.holds);
    return scene;
  }

  describe.each(UNSIGNED)('when %s', (_what, tamper) => {
    test('no writer signs on top of it, and nothing is written', async () => {
      const { store, journal, holds } = await storeOf8();
      await tamper(store);
      const count = await journal.log.count();
      const other = await opened(store);
      const theirs = await holdsOf(other, ['run/b']);
      await expect(journal.append([note('on top')], holds)).rejects.toMatchObject({
        code: 'journal.damaged',
      });
      const late = other.append([note('on top', 'run/b')], theirs);
      await expect(late).rejects.toMatchObject({ code: 'journal.damaged' });
      expect(await journal.log.count()).toBe(count);
      expect(await other.read('run/b')).toEqual([]);
      expect(await journal.read('run/a')).not.toEqual([]);
    });
  });

  test('a changed entry is never read, and everything else is', async () => {
    const { store, journal } = await storeOf8();
    await store.tamper.setBody(3, '{"text":"forged"}');
    const reader = await openedForReading(store);
    for (const one of [journal, reader]) {
      await expect(one.read('run/a')).rejects.toMatchObject({
        code: 'journal.damaged',
        shortMessage: expect.stringContaining('entry 3 of run/a'),
      });
      expect(await one.read('run/a', 4)).toHaveLength(4);
      const following = one.follow(0, AbortSignal.timeout(60_000))[Symbol.asyncIterator]();
      await expect(following.next()).rejects.toMatchObject({ code: 'journal.damaged' });
    }
  });

  test('an audit gets every entry as stored, even a changed one or one that is not JSON', async () => {
    const { store, journal } = await storeOf8();
    await store.tamper.setBody(3, '{"text":"forged"}');
    await store.tamper.setBody(4, 'no JSON');
    const all = await Array.fromAsync(journal.log.stored());
    expect(all.map(({ body }) => body).slice(3, 5)).toEqual(['{"text":"forged"}', 'no JSON']);
    expect(all.map((stored) => hashOf(stored) === stored.hash)).toEqual([
      true,
      true,
      true,
      false,
      false,
      true,
      true,
      true,
    ]);
  });

  test('if entries are missing the count shows it, what needs them cannot be computed, and the rest can', async () => {
    const { store, journal } = await storeOf8();
    const [head, root, path] = [
      await journal.log.head(),
      await journal.log.rootAt(3),
      await journal.log.inclusion(1, 3),
    ];
    await store.tamper.removeEntry(7);
    await store.tamper.removeEntry(5);
    const { log } = await openedForReading(store);
    expect([await log.count(), (await log.head()).size]).toEqual([6, 8]);
    expect(await log.head()).toEqual(head);
    for (const asked of [log.rootAt(8), log.rootAt(6), log.inclusion(4, 8), log.consistency(3, 8)])
      await expect(asked).rejects.toMatchObject({ code: 'journal.damaged' });
    expect([await log.rootAt(3), await log.inclusion(1, 3)]).toEqual([root, path]);
  });

  test('entries whose heads are all gone are counted, and belong to no head', async () => {
    const { store, journal } = await storeOf8();
    for (let left = 7; left > 0; left -= 1) await store.tamper.removeNewestHead();
    expect(await journal.log.head()).toMatchObject({ size: 0, note: undefined });
    expect(await journal.log.count()).toBe(8);
  });
}
