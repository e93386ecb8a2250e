import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { glyphsFor } from '../../src/tui/glyphs.ts';
import { cutLine, lineWidth, textOf, wrapLine } from '../../src/tui/line.ts';
import { proseLines } from '../../src/tui/prose.ts';
import { type Look, span } from '../../src/tui/span.ts';

const look: Look = { glyphs: glyphsFor({ LANG: 'C.UTF-8' }), colour: true };
const texts = (markdown: string, width = 40) => proseLines({ markdown }, width, look).map(textOf);

describe('prose', () => {
  it('joins the rows of a paragraph and breaks them at the edge of the screen', () => {
    expect(texts('one two\nthree four\n\nfive', 10)).toEqual(['one two', 'three four', '', 'five']);
  });

  it('draws lists with hanging rows', () => {
    expect(texts('- one two three\n- four\n  - five\n\n10. ten eleven', 9)).toEqual([
      '• one two',
      '  three',
      '• four',
      '  • five',
      '',
      '10. ten',
      '    eleve',
      '    n',
    ]);
  });

  it('marks quotes, headings and code', () => {
    expect(texts('## Title\n> a quote\n> goes on\n\n```sh\n  cf login\n```')).toEqual([
      'Title',
      '',
      '│ a quote goes on',
      '',
      '    cf login',
    ]);
  });

  it('formats bold, emphasis and code and removes their marks', () => {
    const [line = []] = proseLines({ markdown: 'a **b c** `d` *e f* g_h 2 * 3 * 4 \\*' }, 80, look);
    expect(textOf(line)).toBe('a b c d e f g_h 2 * 3 * 4 *');
    expect(line.find(({ text }) => text.includes('b'))?.token).toBe('text.strong');
    expect(line.find(({ text }) => text.includes('d'))?.token).toBe('text.code');
  });

  it('shows where a link leads, and drops comments', () => {
    expect(texts('<!-- made by a tool -->\n[book](a/b.md) <https://a.b>')).toEqual([
      'book (a/b.md) https://a.b',
    ]);
  });

  it('treats code as code: text in fences or backticks contains no marks', () => {
    expect(texts('```\n# no heading\n- **no item**\n```\n`a*b*c` and `` ` ``')).toEqual([
      '  # no heading',
      '  - **no item**',
      '',
      'a*b*c and `',
    ]);
  });

  it('keeps the paragraphs of an item below its marker', () => {
    expect(texts('1. one\n\n   two\n2. three', 20)).toEqual(['1. one', '   ', '   two', '', '2. three']);
  });

  it('shows unsupported Markdown as it was written', () => {
    expect(texts('~~no~~ ![alt](p.png) [ ] x')).toEqual(['~~no~~ ![alt](p.png) [ ] x']);
  });

  it('draws a table in columns, and omits an empty header', () => {
    expect(texts('| a | b |\n|---|---|\n| 1 | 2 |')).toEqual(['a  b', '1  2']);
    expect(texts('| | |\n|---|---|\n| name | orders |\n| x | y |')).toEqual(['name  orders', 'x     y']);
  });

  it('wraps the cells of a table that is too wide, the widest first', () => {
    expect(texts('| | |\n|---|---|\n| state | one two three four |', 20)).toEqual([
      'state  one two three',
      '       four',
    ]);
  });

  it('shows nested quotes of any depth, too', () => {
    expect(texts('> '.repeat(20_000), 40).length).toBeGreaterThan(0);
  });

  it('takes any text as Markdown and stays within the width', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 2, max: 60 }), (text, width) => {
        for (const line of proseLines({ markdown: text }, width, look))
          expect(lineWidth(line)).toBeLessThanOrEqual(Math.max(width, 12));
      }),
    );
  });
});

describe('lines', () => {
  const line = fc.array(
    fc.string({ unit: 'grapheme' }).map((text) => span(text)),
    { maxLength: 5 },
  );

  it('wrap a single character that is wider than any character should be', () => {
    // A wide mark with spacing marks of music: one grapheme of three cells in two cells of room.
    const rows = wrapLine([{ text: '\u{16fe0}\u{1d160}\u{1d16e}', token: 'text' }], 4, 2);
    for (const row of rows) expect(lineWidth(row)).toBeLessThanOrEqual(4);
  });

  it('wrap without losing anything but spaces', () => {
    fc.assert(
      fc.property(line, fc.integer({ min: 4, max: 60 }), fc.nat(3), (input, width, hanging) => {
        const rows = wrapLine(input, width, hanging);
        for (const row of rows) expect(lineWidth(row)).toBeLessThanOrEqual(width);
        expect(rows.map(textOf).join('').replaceAll(' ', '')).toBe(textOf(input).replaceAll(' ', ''));
      }),
    );
  });

  it('are cut to their width', () => {
    fc.assert(
      fc.property(line, fc.nat(60), (input, width) => {
        expect(lineWidth(cutLine(input, width, look))).toBeLessThanOrEqual(width);
      }),
    );
  });
});
