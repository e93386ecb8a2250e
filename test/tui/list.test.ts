import { describe, expect, it } from 'vitest';
import { glyphsFor } from '../../src/tui/glyphs.ts';
import { lineWidth } from '../../src/tui/line.ts';
import {
  cursorAt,
  FRESH_LIST,
  filtered,
  type ListIntent,
  listKeys,
  moved,
  placed,
  typedInto,
} from '../../src/tui/parts/list.ts';
import { type Column, tableLines } from '../../src/tui/parts/table.ts';
import { span } from '../../src/tui/span.ts';

const LOOK = { glyphs: glyphsFor({ LC_ALL: 'C.UTF-8' }), colour: false };
const KEYS = ['a', 'b', 'c', 'd', 'e'];

describe('the cursor of a list', () => {
  it.each<[string | undefined, ListIntent, string]>([
    [undefined, 'down', 'b'],
    ['a', 'up', 'a'],
    ['e', 'down', 'e'],
    ['b', 'page-down', 'd'],
    ['d', 'page-up', 'b'],
    ['c', 'first', 'a'],
    ['c', 'last', 'e'],
  ])('goes from %s by %s to %s', (cursor, intent, to) => {
    expect(moved({ ...FRESH_LIST, cursor }, intent, KEYS, 2).cursor).toBe(to);
  });

  it('stays on its row when rows appear and change their order', () => {
    const list = { ...FRESH_LIST, cursor: 'c' };
    expect(cursorAt(list, ['x', 'c', 'a'])).toBe(1);
  });

  it('stays on the first row that it was shown on, without a key press', () => {
    const list = placed(FRESH_LIST, ['c', 'a']);
    expect(cursorAt(list, ['x', 'a', 'c'])).toBe(2);
  });

  it('moves to no other row by itself when its row disappears; the next key moves it to the first row', () => {
    const list = placed(FRESH_LIST, ['gone', 'a']);
    expect(cursorAt(list, KEYS)).toBe(-1);
    expect(moved(list, 'down', KEYS, 2).cursor).toBe('a');
  });

  it('moves to the first row when the typed filter hides its row', () => {
    const list = typedInto(placed(FRESH_LIST, ['gone', 'a']), 'a');
    expect(cursorAt(list, ['a', 'b'])).toBe(0);
  });

  it('is nowhere in an empty list, and stays for the row that comes back', () => {
    expect(cursorAt(FRESH_LIST, [])).toBe(-1);
    const list = moved(placed(FRESH_LIST, ['c']), 'down', [], 2);
    expect(cursorAt(list, KEYS)).toBe(2);
  });
});

describe('the filter of a list', () => {
  it('lets rows through that contain every word, in any case', () => {
    const list = typedInto({ ...FRESH_LIST, isFiltering: true }, 'DR ord');
    expect(filtered(['orders-dr', 'orders', 'billing-dr'], list, (row) => row)).toEqual(['orders-dr']);
  });

  it('treats every typed letter as text, not as a key', () => {
    const keys = listKeys({ ...FRESH_LIST, isFiltering: true }).flatMap(({ keys: names }) => names);
    expect(keys.filter((name) => name.length === 1)).toEqual([]);
  });

  it('names the palette while it is typed, since the question mark is text then', () => {
    const footer = (isFiltering: boolean) =>
      listKeys({ ...FRESH_LIST, isFiltering }).flatMap(({ inFooter, shown }) => (inFooter ? [shown] : []));
    expect(footer(true)).toEqual(['Enter', 'Ctrl-K', 'Esc']);
    expect(footer(false)).not.toContain('Ctrl-K');
  });

  it('is cleared by Escape, and kept by Enter', () => {
    const list = typedInto({ ...FRESH_LIST, isFiltering: true }, 'x');
    expect(moved(list, 'end-filter', KEYS, 2)).toMatchObject({ isFiltering: false, filter: { text: '' } });
    expect(moved(list, 'keep-filter', KEYS, 2)).toMatchObject({ isFiltering: false, filter: { text: 'x' } });
  });
});

describe('a table', () => {
  interface Row {
    readonly name: string;
    readonly note: string;
  }
  const columns: readonly Column<Row>[] = [
    { title: 'name', cell: ({ name }) => [span(name)], least: 6 },
    { title: 'note', cell: ({ note }) => [span(note)], drop: 1 },
  ];
  const rows = Array.from({ length: 500 }, (_, at) => ({ name: `instance-${at}-漢字`, note: `note ${at}` }));
  const text = (lines: readonly (readonly { text: string }[])[]) =>
    lines.map((line) => line.map((piece) => piece.text).join(''));

  it.each([
    [80, 24],
    [100, 30],
    [160, 50],
    [20, 5],
    [8, 2],
  ])('fills exactly its rows and never more than its columns at %i x %i', (width, height) => {
    for (const cursor of [0, 250, 499]) {
      const { lines } = tableLines({ columns, rows, cursor, empty: 'none' }, width, height, LOOK);
      expect(lines).toHaveLength(height);
      expect(Math.max(...lines.map(lineWidth))).toBeLessThanOrEqual(width);
    }
  });

  it('always shows the row of the cursor', () => {
    for (const cursor of [0, 1, 77, 250, 498, 499]) {
      const { lines } = tableLines({ columns, rows, cursor, empty: 'none' }, 80, 12, LOOK);
      expect(text(lines).filter((line) => line.startsWith('❯'))).toEqual([
        expect.stringContaining(`instance-${cursor}-`),
      ]);
    }
  });

  it('drops a column before it cuts one below its minimum width', () => {
    const { lines } = tableLines({ columns, rows, cursor: 0, empty: 'none' }, 15, 6, LOOK);
    expect(text(lines)[0]).not.toContain('note');
    expect(text(lines)[1]).toContain('instance');
  });

  it('says so when it is empty', () => {
    const { lines } = tableLines({ columns, rows: [], cursor: -1, empty: 'no instance' }, 40, 4, LOOK);
    expect(text(lines)[0]).toBe('no instance');
  });
});
