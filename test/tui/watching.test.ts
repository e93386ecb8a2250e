import { expect, test } from 'vitest';
import type { AppEffect } from '../../src/tui/live-screen.ts';
import { KEYMAP } from '../../src/tui/screens/run/keymap.ts';
import { runScreen } from '../../src/tui/screens/run/run-screen.ts';
import { modeOf } from '../../src/tui/screens/run/ui-state.ts';
import type { RunPort } from '../../src/view/run-port.ts';
import type { WatchedView } from '../../src/view/run-record.ts';
import { drive } from './drive.ts';
import { press, SIZE, shownRows } from './fake-fleet.ts';
import { VIEWS, type ViewName } from './fake-views.ts';

const WATCHED = { driver: 'driven by ada (process 7 on box) since 2026-11-23 11:00:00 UTC', isFree: false };
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

test('Escape stops watching without a question, even where the run asks one', () => {
  const ui = drive({ ...VIEWS.choice, watched: WATCHED });
  expect(modeOf(ui.state())).toBe('looking');
  ui.press('escape');
  expect(ui.effects).toEqual([{ type: 'close' }]);
});

/** The screen over a run that is watched, in the app, with what it did to the world. */
function watching(watched: WatchedView) {
  const effects: AppEffect[] = [];
  let now = 0;
  const port: RunPort = {
    view: () => ({ ...VIEWS.checking, watched }),
    fallback: () => '',
    subscribe: () => () => undefined,
    answer: async () => undefined,
    wake: () => undefined,
    detach: async () => undefined,
    ended: new Promise(() => undefined),
  };
  const screen = runScreen(port, {
    now: () => (now += 5_000),
    hasPalette: true,
    readMoment: async () => ({ problem: '' }),
    onDone: () => undefined,
    onSuspend: () => undefined,
    onEffect: (effect) => effects.push(effect),
  });
  return { screen, effects, text: () => shownRows(screen, SIZE).join('\n') };
}

test('a run whose driver is gone says that no process drives it, and t takes it over', () => {
  const { screen, effects, text } = watching({ driver: 'no process drives it now', isFree: true });
  expect(text()).toMatch(/no process drives it now\s+nothing is done meanwhile/u);
  expect(text()).toContain('t take over');
  press(screen, 't');
  screen.stop();
  const { runId } = VIEWS.checking;
  expect(effects).toEqual([{ type: 'instead', effect: { type: 'resume', runId } }]);
});

test('a run that another process drives is not taken over, and t says who drives it', () => {
  const { screen, effects, text } = watching(WATCHED);
  expect(text()).not.toContain('take over');
  press(screen, 't');
  screen.stop();
  expect(effects).toEqual([{ type: 'say', text: `it cannot be taken over: ${WATCHED.driver}` }]);
});
