import { describe, expect, it, test } from 'vitest';
import { glyphsFor } from '../../src/tui/glyphs.ts';
import { layOut } from '../../src/tui/screens/run/layout.ts';
import { firstState } from '../../src/tui/screens/run/ui-state.ts';
import type { ObjectiveView, RunView } from '../../src/view/run-view.ts';
import { drive } from './drive.ts';
import { OBJECTIVES, OPEN_FOLLOW_UPS } from './fake-recovery.ts';
import { RUN_ID, VIEWS } from './fake-views.ts';
import { rowsIn } from './shown.ts';

const UNICODE = { glyphs: glyphsFor({ LANG: 'C.UTF-8' }), colour: false };
const ASCII = { glyphs: glyphsFor({ LANG: 'C' }), colour: false };

const [rto, rpo] = OBJECTIVES as [ObjectiveView, ObjectiveView];
const ENDED: RunView & { outcome: NonNullable<RunView['outcome']> } = {
  ...VIEWS.outcome,
  followUps: OPEN_FOLLOW_UPS,
  objectives: [{ ...rto, running: false, tone: 'good', verdict: 'met' }, rpo],
  outcome: {
    ...VIEWS.outcome.outcome,
    tone: 'warn',
    verdict: 'proven, with deviations',
    title: 'orders is restored, and 3 follow-ups are open',
    remarks: Array.from({ length: 8 }, (_, at) => ({
      tone: 'warn',
      text: `deviation at step ${at}: ${'why '.repeat(20)}`,
    })),
    groups: Array.from({ length: 6 }, (_, at) => ({
      title: `group ${at}`,
      facts: [{ label: 'fact', value: `value ${at}`, tone: 'plain' }],
    })),
  },
};

function screen(view: RunView, columns: number, rows: number, look = UNICODE): string[] {
  return rowsIn(layOut(firstState(view, 0), { columns, rows }, look));
}

describe.each([
  [80, 24, UNICODE],
  [80, 24, ASCII],
  [100, 30, UNICODE],
  [160, 50, UNICODE],
])('the end of a run at %i x %i', (columns, rows, look) => {
  it('shows result, clocks, what is still to be done and where the proof is, in this order', () => {
    const text = screen(ENDED, columns, rows, look).join('\n');
    const places = [
      'PROVEN, WITH DEVIATIONS',
      'orders is restored, and 3 follow-ups are open',
      'deviation at step 0',
      /RTO .*28 min 4 s of 30 min .* met/u,
      /RPO .*12 min of 1 h .* met/u,
      'still to be done: 3 follow-ups',
      'orders',
      'where the proof is',
      'report  o reads it here',
      'lifeboat report',
      RUN_ID,
    ].map((what) => text.search(what));
    expect(places).not.toContain(-1);
    expect(places.slice(0, 6)).toEqual(places.slice(0, 6).toSorted((one, other) => one - other));
    expect(text.indexOf('where the proof is')).toBeGreaterThan(text.indexOf('still to be done'));
  });

  it('has a bar for each clock, in characters that the locale supports', () => {
    const bars = screen(ENDED, columns, rows, look).filter((row) => /R[TP]O {6}/u.test(row));
    const { full, empty } = look.glyphs;
    expect(bars).toHaveLength(2);
    for (const bar of bars) expect([bar.includes(full.repeat(3)), bar.includes(empty)]).toEqual([true, true]);
  });
});

test('the steps stand beside the end with the time each took, and below it where there is no room', () => {
  const steps = { ...ENDED, rail: ENDED.rail.map((step) => ({ ...step, seconds: 61 })) };
  expect(screen(steps, 100, 30).join('\n')).toContain('✓ look before the start (1m) │');
  expect(screen(steps, 80, 24).join('\n')).not.toContain('look before the start');
  expect(screen(steps, 80, 200).join('\n')).toContain('look before the start (1m)');
});

test('a title of usual length is shown whole beside the end of a run where there is room for it', () => {
  const title = 'confirm by the name of the target';
  const rail = [{ id: 'confirm', title, state: 'done' }] as const;
  expect(screen({ ...ENDED, rail }, 160, 50).join('\n')).toContain(`✓ ${title} `);
});

test('a missed limit is marked within its bar, and named', () => {
  const missed: ObjectiveView = { ...rto, value: 3600, running: false, tone: 'bad', verdict: 'missed' };
  const bar = screen({ ...ENDED, objectives: [missed] }, 80, 24, ASCII).find((row) => row.startsWith('RTO'));
  expect(bar).toMatch(/^RTO {6}#{13}\|#{12} {2}1 h of 30 min {2}x missed/u);
});

test('the slices are drawn one after the other where there is room, and are written as words elsewhere', () => {
  const large = screen(ENDED, 160, 50);
  const starts = ['decide', 'execute', 'human', 'rebind'].map((name) =>
    large.find((row) => row.includes(`  ${name} `))?.indexOf('█'),
  );
  expect(starts).not.toContain(undefined);
  expect(starts).toEqual(starts.toSorted((one = 0, other = 0) => one - other));
  expect(screen(ENDED, 80, 24).join('\n')).toContain('decide 2 min 10 s, queue 4 s');
});

test('an objective that was given up says why', () => {
  const why = 'orders-api was left without the data';
  const given: ObjectiveView = { ...rto, running: false, tone: 'bad', verdict: 'given up', why };
  expect(screen({ ...ENDED, objectives: [given] }, 80, 24).join('\n')).toMatch(
    /✗ given up\n[\s\S]*orders-api was left/u,
  );
});

test('o opens the report, y copies its command, and Y the anchor with the run', () => {
  const ui = drive(ENDED);
  ui.press('o', 'y', 'Y');
  const { report, anchor } = ENDED.outcome;
  expect(ui.effects).toEqual([
    { type: 'app', effect: { type: 'open', screen: { name: 'report', runId: RUN_ID } } },
    {
      type: 'app',
      effect: { type: 'copy', text: report.command, what: 'the command that writes the report' },
    },
    {
      type: 'app',
      effect: {
        type: 'copy',
        text: `run ${RUN_ID}, anchor ${anchor}`,
        what: 'the id of the run and its anchor',
      },
    },
  ]);
});

test('a run that was watched to its end has the same keys, and is closed without a question', () => {
  const ui = drive({ ...ENDED, watched: { driver: 'it is over', isFree: false } });
  ui.press('o', 'l', 'escape', 'escape');
  expect(ui.effects.map(({ type }) => type)).toEqual(['app', 'close']);
});

test('a run of a drill shows its place in the drill, and that Enter continues the drill', () => {
  const chapter = { number: 2, of: 3 };
  const [head = '', ...rows] = screen({ ...ENDED, mode: 'REHEARSAL', chapter }, 80, 24);
  expect(head).toContain(' DRILL 2/3 ');
  expect(rows.join('\n')).toMatch(/Enter q go on with the drill .*Ctrl-C leave the drill/u);
  expect(screen(ENDED, 80, 24).join('\n')).not.toContain('Ctrl-C');
  const [live = ''] = screen({ ...ENDED, mode: 'LIVE', chapter }, 80, 24);
  expect(live).toContain(' LIVE ');
});
