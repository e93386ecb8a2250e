import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { cells, splitAt } from '../../src/plain/width.ts';

const unicode = new Intl.Segmenter();
const unit = fc.oneof(
  fc.constantFrom(...'ab -─│…é'),
  fc.constantFrom('\u0301', '\u200d', '\ufe0f', '👩', '한', '実'),
);
// Every other text has only characters that are known without asking Unicode.
const anyText = fc.oneof(fc.string({ unit: fc.constantFrom(...'ab -─│…é') }), fc.string({ unit }));

it('a text takes the number of cells that Unicode defines', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(cells(text)).toBe(stringWidth(text));
    }),
  );
});

it('a text is split after as many whole characters as fit, or after at least one where that is requested', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: -2, max: 12 }), (text, width) => {
      const whole = [...unicode.segment(text)].map(({ segment }) => segment);
      const fits = whole.findIndex((_, at) => stringWidthOf(whole.slice(0, at + 1)) > width);
      const count = fits === -1 ? whole.length : fits;
      const head = whole.slice(0, count).join('');
      expect(splitAt(text, width)).toEqual([head, text.slice(head.length)]);
      const [taken, rest] = splitAt(text, width, 1);
      expect(taken + rest).toBe(text);
      if (count > 0) expect(taken).toBe(head);
      else expect([...taken].length).toBeGreaterThanOrEqual(text === '' ? 0 : 1);
    }),
  );
});

/** Of characters one by one, as they stand in the cells of a terminal. */
function stringWidthOf(characters: readonly string[]): number {
  return characters.reduce((sum, character) => sum + stringWidth(character), 0);
}
