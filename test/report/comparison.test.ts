import { expect, test } from 'vitest';
import { Comparison, compareReports } from '../../src/report/comparison.ts';
import { measure } from '../../src/report/measure/measure.ts';
import { renderComparison } from '../../src/report/render-report.ts';
import { buildReport } from '../../src/report/report.ts';
import type { Entry } from '../../src/store/journal.ts';
import { readHtml } from './html-words.ts';
import { longNight } from './long-night.ts';
import { followUps, recovery, sliceOf } from './recovery.ts';
import { rotation } from './rotation.ts';

const now = new Date('2026-03-02T00:00:00Z');

/** The report of a run, or of another one that went the same way so much later. */
function reportOf(entries: readonly Entry[], laterMs = 0) {
  const moment = /\d{4}-\d\d-\d\dT[\d:.]+Z/gu;
  const text = JSON.stringify(entries).replace(moment, (at) =>
    new Date(Date.parse(at) + laterMs).toISOString(),
  );
  const later = (JSON.parse(text) as Entry[]).map((entry) => ({
    ...entry,
    stream: laterMs === 0 ? entry.stream : ('run/02S' as const),
  }));
  const measures = measure(later, { sliceOf, followUps });
  return buildReport(later, { generatedAt: now, sliceOf, measures });
}

const day = reportOf(recovery);
const night = reportOf(longNight, 86_400_000);
const both = compareReports(night, day, now);

test('the older run stands first, whatever order they were named in', () => {
  expect(both.runs.map(({ id }) => id)).toEqual(['01R', '02S']);
  expect(compareReports(day, night, now)).toEqual(both);
});

test('each slice has both times, their difference and their ratio', () => {
  const decide = both.times.find(({ label }) => label === 'decide');
  expect(decide).toEqual({ label: 'decide', first: 100, second: 19_800, difference: 19_700, ratio: 198 });
  expect(both.times.map(({ label }) => label)).toEqual([
    'whole run',
    'recovery time (RTO)',
    'decide',
    'queue',
    'execute',
    'human',
    'rebind',
    'recovery point (RPO)',
  ]);
});

test('repeated steps are added up, and a step that only one run has is not compared', () => {
  const choosing = both.steps.find(({ label }) => label === 'choosing');
  expect(choosing).toEqual({ label: 'choosing', first: 20 });
  const waiting = both.steps.find(({ label }) => label === 'waitingForRestore');
  expect(waiting?.ratio).toBeCloseTo((waiting?.second ?? 0) / 43);
});

test('a slice that took no time before has a difference and no ratio', () => {
  const { measured } = day;
  if (measured === undefined) throw new Error('the day is measured');
  const quick = { ...day, measured: { ...measured, slices: { ...measured.slices, queue: 0 } } };
  const queue = compareReports(quick, reportOf(recovery, 1), now).times.find(
    ({ label }) => label === 'queue',
  );
  expect(queue).toEqual({ label: 'queue', first: 0, second: 10, difference: 10 });
});

test('a recovery that is still running has figures, but no ratio or difference', () => {
  const { measured } = day;
  if (measured === undefined) throw new Error('the day is measured');
  const running = { ...day, measured: { ...measured, status: 'running' as const } };
  const { times } = compareReports(running, reportOf(recovery, 1), now);
  expect(times.find(({ label }) => label === 'execute')).toEqual({
    label: 'execute',
    first: measured.slices.execute,
    second: measured.slices.execute,
  });
});

test('runs of different runbooks are compared in what they share, and a note says so', () => {
  const { cautions } = compareReports(day, reportOf(rotation, 1), now);
  expect(cautions).toEqual([
    'they ran different runbooks (rotate-key and restore-backup): only what both have is comparable',
    'run 02S has no measured recovery, so it has no slices',
  ]);
});

test('a run whose runbook is not in the journal is shown without one', () => {
  const { runbook: _, ...run } = day.run;
  const [caution] = compareReports({ ...day, run }, reportOf(rotation, 1), now).cautions;
  expect(caution).toContain('(rotate-key and not known)');
});

test('a note says when only one of two recovery times counts from the incident', () => {
  expect(both.cautions).toEqual([
    'one recovery time counts from the incident, the other from the start of its run',
  ]);
  expect(compareReports(day, reportOf(recovery.slice(0, 14), 1), now).cautions).toEqual([
    'run 02S is open: its figures end with its last entry',
  ]);
  expect(compareReports(day, day, now).cautions).toEqual(['both are the same run']);
});

test('what break-glass bypassed in either run is shown above the comparison', () => {
  const md = renderComparison(both, 'md');
  expect(md.split('\n')[2]).toContain('BREAK-GLASS: a step went on without its second person (run 02S)');
});

test('every form of the comparison says the same, and its JSON is exactly the comparison', () => {
  expect(Comparison.parse(JSON.parse(renderComparison(both, 'json')))).toEqual(both);
  const { rows, elements } = readHtml(renderComparison(both, 'html'));
  expect(elements.filter(({ name }) => name === 'svg')).toHaveLength(1);
  const decide = ['decide', '1 min 40 s', '5 h 30 min', '+5 h 28 min 20 s', '198.00 times'];
  expect(rows).toContainEqual(decide);
  expect(renderComparison(both, 'md')).toContain(
    '| decide | 1 min 40 s | 5 h 30 min | **+5 h 28 min 20 s** | 198.00 times |',
  );
});
