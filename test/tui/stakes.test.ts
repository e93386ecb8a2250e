import { describe, expect, it } from 'vitest';
import { lineWidth } from '../../src/tui/line.ts';
import { layOut } from '../../src/tui/screens/run/layout.ts';
import { runScreen } from '../../src/tui/screens/run/run-screen.ts';
import type { UiState } from '../../src/tui/screens/run/screen-state.ts';
import { firstState } from '../../src/tui/screens/run/ui-state.ts';
import type { RunView } from '../../src/view/run-view.ts';
import { drive } from './drive.ts';
import { OBJECTIVES } from './fake-recovery.ts';
import { createFakeRun } from './fake-run.ts';
import { TYPED_NAME, VIEWS } from './fake-views.ts';
import { look, rowsIn } from './shown.ts';

const { stakes } = TYPED_NAME;
const SAID = [stakes.overwritten, `${stakes.lost} (1 h 12 min ago)`, stakes.wayBack];

function rowsOf(state: UiState, columns: number, rows: number): string[] {
  return rowsIn(layOut(state, { columns, rows }, look));
}

const flat = (rows: readonly string[]) => rows.join(' ').replace(/\s+/gu, ' ');

const FULL: RunView = {
  ...VIEWS.typedName,
  target: 'orders-dr',
  objectives: OBJECTIVES,
  banner: { tone: 'warn', text: 'the target was changed', hints: ['look at it', 'then go on'] },
};

describe('what is at stake in a confirmation', () => {
  it.each([
    [80, 24],
    [100, 30],
    [160, 50],
    [60, 16],
  ])('stands whole above the field at %i x %i, before and after a wrong name', (columns, rows) => {
    const ui = drive(FULL);
    for (const typed of ['', 'orders']) {
      ui.press(...typed, 'enter');
      for (const scroll of [0, 3, 20]) {
        const shown = rowsOf({ ...ui.state(), scroll }, columns, rows);
        for (const text of SAID) expect(flat(shown)).toContain(text);
        expect(flat(shown)).toContain('type orders-dr and then Enter');
        expect(shown).toHaveLength(rows);
      }
    }
  });

  it.each([
    [40, 12],
    [40, 15],
    [60, 12],
  ])('has no room at %i x %i, and the screen says how large the window must be', (columns, rows) => {
    const state = firstState(FULL, 0);
    const small = flat(rowsOf(state, columns, rows));
    const needed = Number(/enlarge this window to at least \d+ x (\d+)/u.exec(small)?.[1]);
    expect(small).not.toContain('and then Enter');
    expect(small).not.toContain('Enter confirm');
    expect(needed).toBeGreaterThan(rows);
    for (const text of SAID) expect(flat(rowsOf(state, columns, needed))).toContain(text);
    expect(flat(rowsOf(state, columns, needed - 1))).toContain('no confirmation is accepted');
  });

  it('cannot be confirmed where it has no room, but the run can be left and its other answers can be chosen', async () => {
    const run = createFakeRun(FULL);
    let now = 0;
    const shown = runScreen(run, {
      now: () => now,
      readMoment: async () => ({ problem: 'none is read here' }),
      onDone: () => undefined,
      onSuspend: () => undefined,
    });
    const size = { columns: 40, rows: 12 };
    const press = (key: string, at = size) => {
      now += 2_000;
      shown.press({ kind: 'key', key, ...(key.length === 1 ? { text: key } : {}) }, at);
    };
    shown.layOut(size, look);
    for (const key of TYPED_NAME.expected) press(key);
    shown.paste(TYPED_NAME.expected, size);
    press('enter');
    expect(run.answers).toEqual([]);
    // Nothing was kept of it either.
    press('enter', { columns: 80, rows: 24 });
    expect(run.answers).toEqual([]);
    press('down');
    press('enter');
    await expect.poll(() => run.answers).toEqual([{ event: 'OTHER' }]);
    shown.stop();
  });
});

describe('the header of a recovery', () => {
  it.each([40, 60, 80, 100, 160])('names the instance that is changed, at %i columns', (columns) => {
    const { bands } = layOut(firstState(FULL, 0), { columns, rows: 24 }, look);
    const [header = []] = bands[0]?.panes[0]?.lines ?? [];
    const strong = header.filter(({ token }) => token === 'text.strong').map(({ text }) => text.trim());
    expect(strong).toContain('orders-dr');
    expect(strong).not.toContain('orders');
    expect(lineWidth(header)).toBeLessThanOrEqual(columns);
  });

  it('names where the data comes from as well, where there is room', () => {
    expect(rowsOf(firstState(FULL, 0), 80, 24)[0]).toContain('orders -> orders-dr');
  });
});
