import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { GraphemeSegmenter, isOneCellEach } from '../../src/plain/graphemes.ts';

const unicode = new Intl.Segmenter();
const ours = new GraphemeSegmenter();
const EVERY_CHARACTER = Array.from({ length: 0x11_0000 }, (_, code) => String.fromCodePoint(code));
const SIMPLE = EVERY_CHARACTER.filter(isOneCellEach);

describe('characters of one cell each', () => {
  it('are what the screen draws with', () => {
    expect(isOneCellEach('look at the instance ─│═█░•✓✗❯▸↷…“ü”')).toBe(true);
    expect(SIMPLE.length).toBeGreaterThan(1000);
  });

  it('take one cell each, alone and next to any other of them', () => {
    expect(SIMPLE.filter((character) => stringWidth(character) !== 1)).toEqual([]);
    const text = fc.string({ unit: fc.constantFrom(...SIMPLE) });
    fc.assert(fc.property(text, (drawn) => stringWidth(drawn) === drawn.length));
  });
});

describe('the segmenter of the drawing packages', () => {
  const segments = (text: string) => [...ours.segment(text)];

  it('splits any text like that of Unicode', () => {
    const unit = fc.oneof(
      fc.constantFrom(...SIMPLE),
      fc.constantFrom('\r', '\n', '\u001b', '\u0301', '\u200d', '\ufe0f', '🇨', '👩', '한'),
      fc.string({ unit: 'binary', maxLength: 1 }),
    );
    fc.assert(
      fc.property(fc.string({ unit }), fc.nat(20), (text, at) => {
        expect(segments(text).map(({ segment, index }) => [segment, index])).toEqual(
          [...unicode.segment(text)].map(({ segment, index }) => [segment, index]),
        );
        expect(ours.segment(text).containing(at)?.segment).toBe(
          unicode.segment(text).containing(at)?.segment,
        );
      }),
    );
  });

  it('breaks before and after each character that it knows', () => {
    const known = EVERY_CHARACTER.slice(0, 0x3000).filter((character) => character !== '\r');
    const joined = known.filter(
      (one) => segments(`a${one}`).length !== [...unicode.segment(`a${one}`)].length,
    );
    expect(joined).toEqual([]);
  });
});
