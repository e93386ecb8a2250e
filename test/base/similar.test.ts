import { expect, test } from 'vitest';
import { mostSimilar } from '../../src/base/similar.ts';

const KNOWN = ['restore-backup', 'rotate-key', 'orders', 'orders-dr'];

test.each([
  ['rotate-kye', 'rotate-key'],
  ['rotatekey', 'rotate-key'],
  ['ordrs', 'orders'],
  ['orders-d', 'orders-dr'],
  ['order', 'orders'],
])('%s is most similar to %s', (word, similar) => {
  expect(mostSimilar(word, KNOWN)).toEqual([`the most similar: ${similar}`]);
});

test('swapped letters are more similar than other ones', () => {
  expect(mostSimilar('wiat', ['with', 'wait'])).toEqual(['the most similar: wait']);
});

test.each(['payments', 'x', '', 'restore'])('nothing is similar to %j', (word) => {
  expect(mostSimilar(word, KNOWN)).toEqual([]);
});
