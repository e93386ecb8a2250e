import { expect, test } from 'vitest';
import { formatSummary } from '../../src/plain/summary.ts';
import { seconds } from '../../src/report/render/document.ts';
import { glyphsFor } from '../../src/tui/glyphs.ts';
import { objectiveLine } from '../../src/tui/screens/run/parts/outcome.ts';
import type { ObjectiveView } from '../../src/view/run-view.ts';
import { VIEWS } from '../tui/fake-views.ts';

const LOOK = { glyphs: glyphsFor({ LANG: 'C.UTF-8' }), colour: false };

const rto = (change: Partial<ObjectiveView>): ObjectiveView => ({
  name: 'RTO',
  limit: 1800,
  value: 1800.4,
  running: false,
  tone: 'bad',
  detail: '',
  ...change,
});

const onScreen = (objective: ObjectiveView) =>
  objectiveLine([objective], 80, LOOK)
    .flat()
    .map(({ text }) => text)
    .join('');

test.each([
  [1800.4, 1800, '30 min 1 s', '30 min'],
  [7210, 7205, '2 h 0 min 10 s', '2 h 0 min 5 s'],
  [4.04, 4, '4.1 s', '4 s'],
  [1234.5, 1800, '20 min 35 s', '30 min'],
])(
  '%d s of %d s is shown as the same figure on the screen, in lines and in the report',
  (value, limit, shown, allowed) => {
    const objective = rto({ value, limit });
    expect(onScreen(objective)).toContain(` ${shown} of ${allowed}`);
    const summary = formatSummary(
      { ...VIEWS.outcome, objectives: [objective] },
      { how: 'ended', exitCode: 0 },
    );
    expect(summary).toContain(`${shown} of ${allowed}`);
    expect([seconds(value, ''), seconds(limit, '')]).toEqual([shown, allowed]);
  },
);

test('a running clock is never shown as exactly on its limit once the limit was passed', () => {
  expect(onScreen(rto({ running: true, value: 1800 }))).toContain('0:30:00 of 30 min');
  expect(onScreen(rto({ running: true, value: 1800.1 }))).toContain('0:30:01 of 30 min');
  expect(onScreen(rto({ running: true, value: 1799.9 }))).toContain('0:29:59 of 30 min');
});
