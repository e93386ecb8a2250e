import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatBytes, formatElapsed, formatSpan } from '../../src/base/format.ts';
import { formatTable } from '../../src/plain/table.ts';
import { canDraw, speaksUnicode } from '../../src/plain/terminal.ts';
import { cells, cutText } from '../../src/plain/width.ts';
import { FORBIDDEN } from '../tui/hostile-views.ts';

describe('a table', () => {
  const columns = [
    { title: 'run' },
    { title: 'what', gives: true },
    { title: 'open', align: 'right' },
  ] as const;

  it('aligns its columns', () => {
    expect(
      formatTable(columns, [
        ['01K', 'rotate-key', '0'],
        ['01KAJ8', 'restore', '12'],
      ]),
    ).toBe(['run     what        open', '01K     rotate-key     0', '01KAJ8  restore       12'].join('\n'));
  });

  it('measures cells, not characters', () => {
    const [, first = '', second = ''] = formatTable(
      [{ title: 'a' }, { title: 'b' }],
      [
        ['実行', 'x'],
        ['ab', 'y'],
      ],
    ).split('\n');
    expect(cells(first.split('x')[0] ?? '')).toBe(cells(second.split('y')[0] ?? ''));
  });

  it('leaves out optional columns, and only where nothing else helps', () => {
    const dated = [
      { title: 'run' },
      { title: 'what', gives: true },
      { title: 'begun', drops: true },
      { title: 'mode', drops: true },
    ] as const;
    const row = ['01KAJ8', 'a very long description', '2026-11-21', 'REHEARSAL'];
    const at = (width: number) => formatTable(dated, [row], { width }).split('\n')[1];
    expect(at(40)).toBe('01KAJ8  a very l…  2026-11-21  REHEARSAL');
    expect(at(30)).toBe('01KAJ8  a very lo…  2026-11-21');
    expect(at(20)).toBe('01KAJ8  a very long…');
  });

  it('shortens flexible columns, and only as far as needed', () => {
    const lines = formatTable(columns, [['01KAJ8', 'a very long description of a run', '12']], {
      width: 30,
    }).split('\n');
    expect(lines[1]).toBe('01KAJ8  a very long des…    12');
    expect(lines[1]).toHaveLength(30);
  });

  it('has no colour unless requested, and no spaces at line ends', () => {
    const text = formatTable(columns, [['a', 'b', '']]);
    expect(text).not.toMatch(/\u001b| $/mu);
    expect(formatTable(columns, [], { colour: true })).toContain('\u001b[1m');
  });

  it('fits any text into any width', () => {
    const table = [
      { title: 'name', gives: true },
      { title: 'text', gives: true },
    ];
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }))),
        fc.integer({ min: 20, max: 120 }),
        (rows, width) => {
          const lines = formatTable(table, rows, { width }).split('\n');
          expect(lines).toHaveLength(rows.length + 1);
          for (const line of lines) {
            expect(cells(line)).toBeLessThanOrEqual(width);
            expect(line.match(FORBIDDEN)).toBeNull();
          }
        },
      ),
    );
  });
});

describe('cut text', () => {
  it('never takes more cells than allowed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, width) => {
        expect(cells(cutText(text, width))).toBeLessThanOrEqual(width);
      }),
    );
  });
});

describe('figures for people', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1000 B'],
    [1024, '1 KiB'],
    [1025, '1.0 KiB'],
    [1023.4 * 1024, '1023 KiB'],
    [1023.5 * 1024, '1.0 MiB'],
    [1_234_567, '1.2 MiB'],
    [123_456_789, '118 MiB'],
    [2_700_000_000, '2.5 GiB'],
  ])('%d bytes are %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it.each([
    [7.9, '0:00:07'],
    [724, '0:12:04'],
    [360_000, '100:00:00'],
  ])('%d seconds have run as %s', (seconds, text) => {
    expect(formatElapsed(seconds)).toBe(text);
  });

  it.each([
    [0, '0 s'],
    [44.1, '45 s'],
    [200, '3 min 20 s'],
    [3600, '1 h'],
    [7500, '2 h 5 min'],
  ])('%d seconds are left as %s', (seconds, text) => {
    expect(formatSpan(seconds)).toBe(text);
  });
});

describe('what a terminal can do', () => {
  const tty = { isTTY: true } as never;
  it.each([
    ['two terminals', { stdin: tty, stdout: tty, env: { TERM: 'xterm' } }, true],
    ['a pipe out', { stdin: tty, stdout: {} as never, env: {} }, false],
    ['a pipe in', { stdin: {} as never, stdout: tty, env: {} }, false],
    ['a dumb terminal', { stdin: tty, stdout: tty, env: { TERM: 'dumb' } }, false],
    ['a screen reader', { stdin: tty, stdout: tty, env: { INK_SCREEN_READER: 'true' } }, false],
  ])('%s', (_, streams, can) => {
    expect(canDraw(streams)).toBe(can);
  });

  it.each([
    [{ LANG: 'en_US.UTF-8' }, true],
    [{ LANG: 'C.utf8' }, true],
    [{ LANG: 'en_US.UTF-8', LC_ALL: 'C' }, false],
    [{ LANG: 'C', LC_CTYPE: 'de_DE.UTF-8' }, true],
    [{}, false],
  ])('%j is Unicode: %s', (env, is) => {
    expect(speaksUnicode(env, 'linux')).toBe(is);
  });
});
