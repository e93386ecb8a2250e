import { describe, expect, it } from 'vitest';
import { glyphsFor } from '../../src/tui/glyphs.ts';
import { lineWidth } from '../../src/tui/line.ts';
import {
  EMPTY_FIELD,
  edited,
  type FieldIntent,
  fieldAfter,
  fieldIntentOf,
  fieldLine,
  fieldOf,
  inserted,
  typed,
} from '../../src/tui/parts/field.ts';

const LOOK = { glyphs: glyphsFor({ LC_ALL: 'C.UTF-8' }), colour: false };

/** A text with `|` where the cursor is. */
function field(marked: string) {
  const [before = '', after = ''] = marked.split('|');
  return { text: before + after, cursor: [...new Intl.Segmenter().segment(before)].length };
}

describe('a field', () => {
  it.each<[string, FieldIntent, string]>([
    ['orders|', 'erase', 'order|'],
    ['|orders', 'erase', '|orders'],
    ['ord|ers', 'erase-next', 'ord|rs'],
    ['orders|', 'erase-next', 'orders|'],
    ['restore orders now|', 'erase-word', 'restore orders |'],
    ['restore orders  |now', 'erase-word', 'restore |now'],
    ['restore|', 'clear', '|'],
    ['or|ders', 'left', 'o|rders'],
    ['|orders', 'left', '|orders'],
    ['orders|', 'right', 'orders|'],
    ['restore or|ders', 'word-left', 'restore |orders'],
    ['res|tore orders', 'word-right', 'restore| orders'],
    ['or|ders', 'begin', '|orders'],
    ['or|ders', 'end', 'orders|'],
    ['e\u0301👩‍👧|x', 'erase', 'e\u0301|x'],
    ['e\u0301|x', 'erase', '|x'],
  ])('turns %s by %s into %s', (before, intent, after) => {
    expect(edited(field(before), intent)).toEqual(field(after));
  });

  it('takes a text at the cursor, without line ends and other control characters', () => {
    expect(typed(field('a|b'), '1\n\u001b[2J2')).toEqual(field('a1 [2J2|b'));
  });

  it('takes no more than a thousand characters', () => {
    const full = typed(EMPTY_FIELD, 'x'.repeat(5_000));
    expect(full.text).toHaveLength(1_000);
    expect(typed(full, 'y')).toEqual(full);
  });

  it('shows the cursor at any width, however long the text', () => {
    for (const width of [12, 20, 80])
      for (const cursor of [0, 7, 200, 400]) {
        const line = fieldLine('name: ', { text: 'abcdefgh 漢字'.repeat(40), cursor }, width, LOOK);
        expect(lineWidth(line)).toBeLessThanOrEqual(width);
        expect(line.some(({ token, text }) => token === 'cursor' && text !== '')).toBe(true);
      }
  });

  it('puts the cursor after its initial text', () => {
    expect(fieldOf('orders')).toEqual(field('orders|'));
  });

  it('takes the keys of readline', () => {
    expect(['ctrl+w', 'ctrl+u', 'delete', 'home', 'meta+b', 'x'].map(fieldIntentOf)).toEqual([
      'erase-word',
      'clear',
      'erase-next',
      'begin',
      'word-left',
      undefined,
    ]);
  });
});

it('takes a text as a screen wants it, edits by its own keys, and ignores any other key', () => {
  const page = { height: 1, last: 0 };
  const before = field('ord|');
  expect(fieldAfter(before, { type: 'text', text: 'er\ts' })).toEqual(field('order s|'));
  expect(fieldAfter(before, { type: 'text', text: 'er\ts' }, inserted)).toEqual(field('order\ts|'));
  expect(fieldAfter(before, { type: 'intent', intent: 'erase', page })).toEqual(field('or|'));
  expect(fieldAfter(before, { type: 'intent', intent: 'take', page })).toBe(before);
});
