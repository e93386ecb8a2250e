import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Needles } from '../../src/base/needles.ts';

test('finds what a search for each substring finds, and nothing else', () => {
  // Few letters, and as many as a window has and more, so that what is nearly there is common.
  const text = (maxLength: number) =>
    fc.array(fc.constantFrom('a', 'b', '\u00e9', '\ud83d'), { maxLength }).map((units) => units.join(''));
  fc.assert(
    fc.property(fc.array(text(12), { maxLength: 6 }), text(60), (wanted, hay) => {
      const needles = new Needles();
      for (const needle of wanted) needles.add(needle);
      expect(needles.areIn(hay)).toBe(wanted.some((needle) => hay.includes(needle)));
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['at the beginning', 'abcdefghij and more'],
  ['at the end', 'and more abcdefghij'],
  ['as the whole text', 'abcdefghij'],
  ['after a part of its beginning', 'abcdefghi abcdefghabcdefghij'],
])('finds one %s', (_, text) => {
  const needles = new Needles();
  needles.add('abcdefghij');
  expect(needles.areIn(text)).toBe(true);
  expect(needles.areIn(text.replaceAll('j', ''))).toBe(false);
});

test('finds each of thousands, and none that was not added', () => {
  const needles = new Needles();
  const nth = (at: number) => `#${at}-th secret of a list`;
  for (let at = 0; at < 30_000; at += 1) needles.add(nth(at));
  for (let at = 0; at < 30_000; at += 1) if (!needles.areIn(`so: ${nth(at)}.`)) expect.fail(nth(at));
  for (let at = 30_000; at < 40_000; at += 1) if (needles.areIn(`so: ${nth(at)}.`)) expect.fail(nth(at));
});
