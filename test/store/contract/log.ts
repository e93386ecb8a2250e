import { createPublicKey, hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { StoredEntry } from '../../../src/store/journal.ts';
import { readCheckpoint } from '../../../src/store/log/checkpoint.ts';
import { provesConsistency, provesInclusion } from '../../../src/store/log/merkle.ts';
import { freshSigner } from '../fresh-signer.ts';
import { type FreshStore, holdsOf, note, notes, opened, openedWith } from './store-under-test.ts';

/** The one Merkle tree over all entries, and its signed head. */
export function logContract(freshStore: FreshStore): void {
  test('an empty store has an empty log without a name', async () => {
    const { log } = await opened(await freshStore());
    expect(await log.head()).toEqual({ size: 0, root: sha256(''), note: undefined });
    expect([await log.origin(), await log.count(), await log.vouched()]).toEqual([undefined, 0, 0]);
    expect(await Array.fromAsync(log.stored())).toEqual([]);
  });

  test('each append leaves a head that its installation signed and that covers exactly the existing entries', async () => {
    const { store, journal, holds } = await openedWith(freshStore, 'run/a');
    for (const count of [1, 3, 1, 7]) {
      await journal.append(notes(count), holds);
      const head = await journal.log.head();
      expect(head.size).toBe(await journal.log.count());
      const read = readCheckpoint(head.note ?? '', [createPublicKey(store.signer.publicKey)]);
      expect(read).toMatchObject({
        result: 'signed',
        checkpoint: {
          origin: await journal.log.origin(),
          size: head.size,
          root: head.root,
          armed: [],
          signedBy: store.signer.installation,
        },
      });
    }
  });

  test('the entries are stored as the text that gives their leaf hashes', async () => {
    const store = await freshStore();
    const journal = await opened(store, { by: 'Zoë "on call"' });
    await journal.append([note('é \u{1f600} \u007f "x"')], await holdsOf(journal, ['run/a']));
    const stored = await Array.fromAsync(journal.log.stored());
    expect(stored.map(({ index }) => index)).toEqual([0, 1]);
    const entries = [...(await journal.read('store/log')), ...(await journal.read('run/a'))];
    expect(stored.map(({ tree: _, ...entry }) => ({ ...entry, body: JSON.parse(entry.body) }))).toEqual(
      entries,
    );
    expect(stored[1]?.body).toBe('{"text":"\\u00e9 \\ud83d\\ude00 \\u007f \\"x\\""}');
    expect(stored.map(({ hash }) => hash)).toEqual(stored.map((entry) => leafOf(entry).toString('hex')));
    expect(await Array.fromAsync(journal.log.stored(1))).toEqual(stored.slice(1));
    expect(await Array.fromAsync(journal.log.stored(2))).toEqual([]);
  });

  test('roots and proofs at every size match a naively computed tree', async () => {
    const { journal, holds } = await openedWith(freshStore, 'run/a');
    for (const count of [1, 2, 5, 1, 11]) await journal.append(notes(count), holds);
    const leaves = (await Array.fromAsync(journal.log.stored())).map(leafOf);
    expect(leaves).toHaveLength(21);
    const roots = [...leaves, undefined].map((_, size) => naiveRoot(leaves.slice(0, size)));
    for (const [size, root] of roots.entries()) {
      expect(await journal.log.rootAt(size)).toBe(root.toString('hex'));
      for (const [index, leaf] of leaves.slice(0, size).entries()) {
        const path = await bytesOf(journal.log.inclusion(index, size));
        expect([index, size, provesInclusion(leaf, index, size, path, root)]).toEqual([index, size, true]);
      }
      for (const [from, old] of roots.slice(0, size + 1).entries()) {
        const path = await bytesOf(journal.log.consistency(from, size));
        // A proof from the empty tree is empty, so it proves nothing.
        const isProven = from === 0 ? path.length === 0 : provesConsistency(from, size, path, old, root);
        expect([from, size, isProven]).toEqual([from, size, true]);
      }
    }
    expect((await journal.log.head()).root).toBe(roots.at(-1)?.toString('hex'));
  });

  test('an audit gets the nodes of the tree that each leaf completes, as they are stored', async () => {
    const { journal, holds } = await openedWith(freshStore, 'run/a');
    for (const count of [1, 2, 5, 8]) await journal.append(notes(count), holds);
    const stored = await Array.fromAsync(journal.log.stored());
    const leaves = stored.map(leafOf);
    const completed = (leaf: number) =>
      [1, 2, 3, 4]
        .filter((level) => (leaf + 1) % 2 ** level === 0)
        .map((level) => leaves.slice(leaf + 1 - 2 ** level, leaf + 1));
    expect(stored.map(({ tree }) => tree)).toEqual(
      leaves.map((_, leaf) =>
        completed(leaf)
          .map((part) => naiveRoot(part).toString('hex'))
          .join(''),
      ),
    );
  });

  test('a reopened store continues its log', async () => {
    const store = await freshStore();
    const first = await store.open();
    await first.append(notes(6), await holdsOf(first, ['run/a']));
    const [origin, before] = [await first.log.origin(), await first.log.head()];
    await first.close();
    const journal = await opened(store);
    await journal.append(notes(2), await holdsOf(journal, ['run/a']));
    expect(await journal.log.origin()).toBe(origin);
    expect(await journal.log.head()).toMatchObject({ size: before.size + 2 });
    expect(await journal.log.rootAt(before.size)).toBe(before.root);
    expect((await journal.read('store/log')).map(({ type }) => type)).toEqual(['log.begun']);
  });

  test('another installation announces its key with its first append, once', async () => {
    const { store, journal, holds } = await openedWith(freshStore, 'run/a');
    await journal.append([note('one')], holds);
    const signer = freshSigner();
    const other = await opened(store, { signer });
    const theirs = await holdsOf(other, ['run/b']);
    const [entry] = await other.append([note('two', 'run/b')], theirs);
    await journal.append([note('three')], holds);
    await other.append([note('four', 'run/b')], theirs);
    expect(entry).toMatchObject({ index: 3, stream: 'run/b', seq: 1 });
    const { installation, publicKey } = signer;
    expect((await journal.read('store/log', 2)).map(({ type, body }) => ({ type, body }))).toEqual([
      { type: 'key.announced', body: { installation, publicKey } },
    ]);
    const keys = [createPublicKey(publicKey)];
    expect(readCheckpoint((await journal.log.head()).note ?? '', keys)).toMatchObject({ result: 'signed' });
  });

  describe('the size of the largest checkpoint in the home', () => {
    test('is remembered with the next append, and never decreases', async () => {
      const { store, journal, holds } = await openedWith(freshStore, 'run/a');
      await journal.append([note('one')], holds);
      journal.log.vouch(2);
      expect(await (await opened(store)).log.vouched()).toBe(0);
      await journal.append([note('two')], holds);
      expect(await (await opened(store)).log.vouched()).toBe(2);
      journal.log.vouch(1);
      await journal.append([note('three')], holds);
      expect(await journal.log.vouched()).toBe(2);
    });

    test('is also remembered by a writer that did not receive it', async () => {
      const { store, journal, holds } = await openedWith(freshStore, 'run/a');
      await journal.append([note('one')], holds);
      journal.log.vouch(2);
      await journal.append([note('two')], holds);
      const other = await opened(store);
      await other.append([note('three', 'run/b')], await holdsOf(other, ['run/b']));
      expect(await other.log.vouched()).toBe(2);
    });
  });
}

/** Implements the definition at `leafText` and RFC 6962 a second time. */
function leafOf({ stream, seq, at, by, type, body }: StoredEntry): Buffer {
  const text = JSON.stringify({ at, body: '?', by, seq, stream, type }).replace(
    '"body":"?"',
    () => `"body":${body}`,
  );
  const escaped = [...text].map((one) => (one > '~' ? units(one) : one)).join('');
  return hash('sha256', Buffer.concat([Buffer.of(0), Buffer.from(escaped, 'latin1')]), 'buffer');
}

function units(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

/** RFC 6962 section 2.1, word by word. */
function naiveRoot(leaves: readonly Buffer[]): Buffer {
  const [only, ...others] = leaves;
  if (only === undefined) return Buffer.from(sha256(''), 'hex');
  if (others.length === 0) return only;
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  const halves = [naiveRoot(leaves.slice(0, split)), naiveRoot(leaves.slice(split))];
  return hash('sha256', Buffer.concat([Buffer.of(1), ...halves]), 'buffer');
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}

async function bytesOf(proof: Promise<readonly string[]>): Promise<readonly Buffer[]> {
  return (await proof).map((hex) => Buffer.from(hex, 'hex'));
}
