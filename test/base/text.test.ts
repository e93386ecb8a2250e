import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printableJson, show, untrust } from '../../src/base/text.ts';

test('show leaves ordinary text as it is', () => {
  for (const text of ['orders-dr', 'Größe 10 €', '日本語', '🚀', '']) expect(show(untrust(text))).toBe(text);
});

const HOSTILE: readonly (readonly [string, string])[] = [
  ['colour', '\u001b[31mred'],
  ['a link (OSC 8)', '\u001b]8;;http://evil\u0007x'],
  ['the clipboard (OSC 52)', '\u001b]52;c;ZXZpbA==\u001b\\'],
  ['8-bit control sequences', '\u009b2J\u009dx\u009c'],
  ['a title', '\u001b]0;title\u0007'],
  ['backspaces', 'yes\b\b\bno'],
  ['bidi overrides', 'a\u202eb\u2066c\u200f'],
  ['zero-width characters', 'a\u200bb\ufeffc\u2060'],
  ['tag characters', 'a\u{e0041}'],
  ['variation selectors', 'a\ufe0fb\u{e0100}'],
  ['Hangul fillers', 'a\u3164b\u115fc\uffa0'],
  ['a combining grapheme joiner', 'a\u034f'],
  ['lone surrogates', 'a\ud800b\udfff'],
  ['line separators', 'a\u2028b\u2029c'],
  ['NUL and DEL', 'a\u0000b\u007f'],
];
for (const [what, text] of HOSTILE) {
  test(`show disarms ${what}`, () => {
    const shown = show(text);
    expect(shown).toContain('\ufffd');
    expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]/u);
    expect(stripVTControlCharacters(shown)).toBe(shown);
  });
}

test('show makes one line of several', () => {
  expect(show('a\r\nb\nc\rd\te')).toBe('a b c d e');
});

test('show cuts between characters, not inside them', () => {
  expect(show('🚀'.repeat(10), 4)).toBe('🚀🚀🚀…');
  expect(show('abcd', 4)).toBe('abcd');
  expect(show('abcde', 4)).toBe('abc…');
  expect(show('abc', 1)).toBe('…');
  expect(show('abc', 0)).toBe('…');
  expect(show('x'.repeat(10_000_000))).toHaveLength(300);
});

test('show unifies what Unicode calls the same', () => {
  expect(show('e\u0301')).toBe('\u00e9');
});

test('show reduces stacked marks on one letter, and leaves every script unchanged', () => {
  expect(show(`a${'\u0336'.repeat(5_000)}b`, 9_000)).toBe(`a${'\u0336'.repeat(8)}\ufffdb`);
  for (const text of ['\u0e17\u0e35\u0e48', '\u0928\u094d\u0928\u093f', '\u05d1\u05b0\u05bc\u05e8'])
    expect(show(text)).toBe(text.normalize('NFC'));
});

test('whatever the text, show gives printable text within the limit', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.integer({ min: 1, max: 20 }),
      (text, limit) => {
        const shown = show(text, limit);
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]/u);
        expect(Array.from(shown).length).toBeLessThanOrEqual(limit);
      },
    ),
  );
});

test('printable JSON is pure ASCII and reads back the same', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = printableJson(value);
      expect(text).toMatch(/^[\x20-\x7e]*$/u);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
  expect(printableJson({ a: '\u009b\u202e🚀\u007f' })).toBe('{"a":"\\u009b\\u202e\\ud83d\\ude80\\u007f"}');
  expect(printableJson(undefined)).toBe('null');
});
