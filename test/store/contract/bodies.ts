import canonicalize from 'canonicalize';
import { expect, test } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import type { Json, NewEntry } from '../../../src/store/journal.ts';
import { type FreshStore, note, openedWith } from './store-under-test.ts';

/** What a body may hold, and what never reaches the store. */
export function bodiesContract(freshStore: FreshStore): void {
  test.each<[string, Json]>([
    ['order of names', { b: 1, a: 2, é: 3, '\u{1f600}': 4, '\ufb33': 5 }],
    ['numbers', [0, -0, 1e21, 1e-7, 0.1, 2 ** 53, 5e-324]],
    ['controls and quotes', 'a"\\\u0000\u001b\u007f\u009b\u2028\u202e/'],
    ['empty things', [{}, [], '', null, false]],
    ['a name that is special in JavaScript', JSON.parse('{"__proto__":{"polluted":true}}')],
  ])('a body survives exactly: %s', async (_title, body) => {
    const { journal, holds } = await openedWith(freshStore, 'run/a');
    const [entry] = await journal.append([{ stream: 'run/a', type: 'note', body }], holds);
    expect(await journal.read('run/a')).toEqual([entry]);
    expect(canonicalize(entry?.body)).toBe(canonicalize(body));
    for await (const stored of journal.log.stored(1)) expect(stored.body).toMatch(/^[\x20-\x7e]+$/u);
  });

  test('a lone surrogate from a hostile server cannot stop a run: it becomes U+FFFD', async () => {
    const { journal, holds } = await openedWith(freshStore, 'run/a');
    const body = { 'k\udc00': 'a\ud800b', list: ['\\ud800', '\u{1f600}'] };
    const [entry] = await journal.append([{ stream: 'run/a', type: 'note', body }], holds);
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
    ['infinity beside half a character', { body: ['\ud800', Number.POSITIVE_INFINITY] }, 'journal.bad-entry'],
    ['a stream that leaves its folder', { stream: 'run/../../etc' }, 'journal.bad-entry'],
    ['a type with a line feed', { type: 'a\nb' }, 'journal.bad-entry'],
  ])('%s is refused and leaves nothing behind', async (_title, wrong, code) => {
    const { journal, holds } = await openedWith(freshStore, 'run/a');
    const refused = journal.append([note('before'), { ...note('x'), ...wrong }], holds);
    await expect(refused).rejects.toMatchObject({ code });
    expect(await journal.streams()).toEqual([]);
    await journal.append([note('the journal goes on')], holds);
  });

  test('a body of just under 1 MiB and 100 levels is accepted', async () => {
    const { journal, holds } = await openedWith(freshStore, 'run/a');
    const large = [
      { stream: 'run/a', type: 'note', body: 'x'.repeat(1024 * 1024 - 2) },
      { stream: 'run/a', type: 'note', body: JSON.parse(`${'['.repeat(100)}"[[["${']'.repeat(100)}`) },
    ] as const;
    await journal.append(large, holds);
    expect(await journal.read('run/a')).toHaveLength(2);
  });

  test.each(['correct horse battery', 'Pferd "mit" Öl\\\u{1f600}'])(
    'the guarded secret %s is refused anywhere in an entry, even as JSON inside JSON',
    async (secret) => {
      const { journal, holds } = await openedWith(freshStore, 'run/a');
      journal.guard(new Secret(secret));
      for (const x of [`my ${secret}!`, JSON.stringify({ secret }), Buffer.from(secret).toString('base64')]) {
        const leak = { stream: 'run/a', type: 'note', body: { deep: [{ x }] } } as const;
        await expect(journal.append([leak], holds)).rejects.toMatchObject({ code: 'journal.secret' });
      }
      await journal.append([note(secret.slice(0, 8))], holds);
    },
  );

  test('a Secret object is refused even if it was never registered', async () => {
    const { journal, holds } = await openedWith(freshStore, 'run/a');
    const body = { key: new Secret('never') } as unknown as Json;
    const refused = journal.append([{ stream: 'run/a', type: 'note', body }], holds);
    await expect(refused).rejects.toMatchObject({ code: 'journal.secret' });
  });
}
