import { describe, expect, test } from 'vitest';
import { paintOf, THEMES, type Token, themeFor } from '../../src/tui/theme.ts';

const STATUSES: readonly Token[] = ['status.ok', 'status.warn', 'status.bad'];
const TOKENS: readonly Token[] = [
  ...['text', 'text.strong', 'text.dim', 'text.code', 'accent', 'selected', 'cursor'],
  ...STATUSES,
  ...['frame', 'frame.live', 'badge.live', 'badge.rehearsal'],
] as readonly Token[];

describe.each(THEMES)('the theme %s', (theme) => {
  test.each(TOKENS)('has a paint for %s, with colour and without', (token) => {
    expect(paintOf(token, true, theme)).toBeDefined();
    expect(paintOf(token, false, theme).color).toBeUndefined();
  });

  test.each([true, false])(
    'paints no two statuses alike, nor a live run like a rehearsal (colour: %s)',
    (colour) => {
      const looks = STATUSES.map((token) => JSON.stringify(paintOf(token, colour, theme)));
      expect(new Set(looks).size).toBe(STATUSES.length);
      expect(paintOf('badge.live', colour, theme)).not.toEqual(paintOf('badge.rehearsal', colour, theme));
      expect(paintOf('selected', colour, theme)).not.toEqual(paintOf('text', colour, theme));
    },
  );
});

test('the high-contrast theme has no colour and nothing dim', () => {
  for (const token of TOKENS) {
    expect(paintOf(token, true, 'contrast').color).toBeUndefined();
    expect(paintOf(token, true, 'contrast').dimColor).toBeUndefined();
  }
});

test('the theme for a light background has neither yellow nor cyan', () => {
  const colours = TOKENS.map((token) => paintOf(token, true, 'light').color);
  expect(colours.filter((colour) => colour?.startsWith('yellow') || colour?.startsWith('cyan'))).toEqual([]);
});

test.for([
  { named: undefined, theme: 'terminal' },
  { named: '', theme: 'terminal' },
  { named: 'dark', theme: 'dark' },
  { named: 'light', theme: 'light' },
  { named: 'contrast', theme: 'contrast' },
  { named: 'solarized', theme: 'terminal' },
])('LIFEBOAT_THEME=$named is the theme $theme', ({ named, theme }) => {
  expect(themeFor({ LIFEBOAT_THEME: named })).toBe(theme);
});
