import { describe, expect, it } from 'vitest';
import { loadEstimate, secretWords } from '../../src/view/secret-words.ts';

const NEW = { minLength: 12, isNew: true, lostLineEnd: false };
const RANDOM = 'u7kQ9xTzR2mVb4Lp8Wc1Yd6HfJs3NgAeXo5iKq0_tU-';

describe('what is reported about a secret', () => {
  it('is its length, and how many characters are missing', () => {
    expect(secretWords('x'.repeat(11), NEW).length).toBe('11 characters, at least 12 are needed');
    expect(secretWords(RANDOM, NEW).length).toBe('43 characters, long enough');
  });

  it.each([
    ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'weak'],
    ['correct horse', 'fair'],
    ['abcdefghijkl', 'weak'],
    [RANDOM, 'strong'],
  ])('is the strength of %s, at most: %s', (text, word) => {
    expect(secretWords(text, NEW).strength).toMatch(new RegExp(`^${word}: at most \\d+ bits, if`, 'u'));
  });

  it.each([
    [` ${RANDOM}`, 'it begins with a space'],
    [`${RANDOM} `, 'it ends with a space'],
    [`${RANDOM} ${RANDOM}`, 'it contains a space'],
    [`${RANDOM}é`, 'non-ASCII characters'],
    [`${RANDOM}\u00a0x`, 'a character that cannot be seen'],
    [`\ufeff${RANDOM}`, 'a character that cannot be seen'],
    [`${RANDOM}\u0430`, 'letters of another alphabet'],
    [RANDOM.repeat(24), 'openssl reads only its first 1023 bytes'],
    ['short-and-random', 'fewer than 32 bytes'],
  ])('is what is often wrong with a secret', (text, pitfall) => {
    const { pitfalls } = secretWords(text, NEW);
    expect(pitfalls).toHaveLength(1);
    expect(pitfalls[0]).toContain(pitfall);
  });

  it.each([
    ['correct horse battery staple', 'fair'],
    ['Summer2026!Summer2026!', 'weak'],
    ['qwertyuiopasdfghjklzxcvbnm123456', 'weak'],
    [RANDOM, 'strong'],
  ])('is how soon a program that knows words guesses %s: %s', async (text, word) => {
    const guessedBits = (await loadEstimate())(text);
    expect(secretWords(text, { ...NEW, guessedBits }).strength).toMatch(new RegExp(`^${word}: `, 'u'));
  });

  it('is no pitfall for a good secret', () => {
    expect(secretWords(RANDOM, NEW).pitfalls).toEqual([]);
  });

  it('is that the line end of a paste does not belong to it', () => {
    expect(secretWords(RANDOM, { ...NEW, lostLineEnd: true }).pitfalls[0]).toContain('line end');
  });

  it('is no strength for a key already in use, which can no longer be chosen', () => {
    const { strength, pitfalls } = secretWords('short', { minLength: 1, isNew: false, lostLineEnd: false });
    expect(strength).toBeUndefined();
    expect(pitfalls).toEqual([]);
  });

  it('never contains the secret or a part of it', () => {
    const said = JSON.stringify(secretWords(` ${RANDOM} é`, NEW));
    for (let at = 0; at + 4 <= RANDOM.length; at += 1) expect(said).not.toContain(RANDOM.slice(at, at + 4));
  });
});
