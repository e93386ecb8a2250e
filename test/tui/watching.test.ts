import { expect, test } from 'vitest';
import { KEYMAP } from '../../src/tui/screens/run/keymap.ts';
import { modeOf } from '../../src/tui/screens/run/ui-state.ts';
import { drive } from './drive.ts';
import { VIEWS, type ViewName } from './fake-views.ts';

const WATCHED = { driver: 'driven by ada (process 7 on box) since 2026-11-23 11:00:00 UTC' };
const ALL_KEYS = [...new Set(KEYMAP.flatMap(({ keys }) => keys))];

test.each(Object.keys(VIEWS) as ViewName[])('no key answers, wakes or leaves a watched run: %s', (name) => {
  for (const key of ALL_KEYS) {
    const ui = drive({ ...VIEWS[name], watched: WATCHED });
    ui.press(key, 'x', 'enter');
    const harmless = new Set(['suspend', 'close', 'app', 'fallback']);
    const kinds = ui.effects.map(({ type }) => type).filter((type) => !harmless.has(type));
    expect([key, kinds]).toEqual([key, []]);
  }
});

test('Escape ends the looking without a question, also where the run asks one', () => {
  const ui = drive({ ...VIEWS.choice, watched: WATCHED });
  expect(modeOf(ui.state())).toBe('looking');
  ui.press('escape');
  expect(ui.effects).toEqual([{ type: 'close' }]);
});
