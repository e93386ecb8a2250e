import { describe, expect, test } from 'vitest';
import { compareReports } from '../../src/report/comparison.ts';
import { measure } from '../../src/report/measure/measure.ts';
import { renderComparison, renderReport } from '../../src/report/render-report.ts';
import { buildReport } from '../../src/report/report.ts';
import type { Entry } from '../../src/store/journal.ts';
import { runEntry } from '../../src/store/run-entries.ts';
import { readHtml } from './html-words.ts';
import {
  armed,
  at,
  closed,
  followUps,
  journalOf,
  type Line,
  leftOut,
  moved,
  objectives,
  performed,
  recovery,
  recoveryLines,
  replaced,
  sliceOf,
  started,
} from './recovery.ts';

const generatedAt = new Date('2026-03-02T00:00:00Z');

function reportOf(entries: readonly Entry[], given?: typeof followUps) {
  const measures = measure(entries, { sliceOf, followUps: given });
  return buildReport(entries, { generatedAt, sliceOf, measures, followUps: given });
}

/** The figures at the head of the HTML, each with its tone. */
function tiles(report: ReturnType<typeof reportOf>): Record<string, string> {
  const html = renderReport(report, 'html');
  const all = html.matchAll(/<div class="(?<tone>\w+)"><dt>(?<label>[^<]+)<\/dt>/gu);
  return Object.fromEntries([...all].map(({ groups }) => [groups?.['label'], groups?.['tone']]));
}

const answer = (seconds: number, event: string, label: string, reason: string): Line => ({
  at: seconds,
  entry: runEntry('01R', 'answer', { event, label, reason }),
});

test('a recovery that is shown to be complete, with all follow-ups done, is good at its head', () => {
  const done = followUps.filter(({ closed }) => closed.how === 'platform' || closed.how === 'run');
  const entries = journalOf(started({ objectives }), recoveryLines, closed(340, { title: 'restored' }));
  expect(tiles(reportOf(entries, done))).toEqual({
    Result: 'good',
    'Recovery time (RTO)': 'good',
    'Recovery point (RPO)': 'bad',
    'Follow-ups': 'good',
    Deviations: 'plain',
  });
});

describe('a recovery that left an application without the data', () => {
  const left = leftOut('rebind', 'rebind');
  const written = left.map(({ commands: _, ...rest }) => rest);
  const skip = [
    answer(310, 'operator.skip', 'skipped: bind part-0', 'not tonight'),
    moved(310, 'openFollowUps', { type: 'operator.skip', id: 'rebind-0', text: 'not tonight' }),
  ];
  // A version of before closed it as proven.
  const entries = journalOf(
    started({ objectives }),
    recoveryLines.slice(0, -1),
    skip,
    closed(340, { title: 'orders is restored', proven: true, followUps: written }),
  );
  const report = reportOf(entries);

  test('is not proven, its time is given up, and both are bad at the head', () => {
    expect(report.outcome.proven).toBe(false);
    expect(report.measured?.rto).toMatchObject({
      result: 'given up',
      why: '2 applications were not bound again',
    });
    expect(tiles(report)).toMatchObject({
      Result: 'bad',
      'Recovery time (RTO)': 'bad',
      'Follow-ups': 'bad',
      Deviations: 'bad',
    });
  });

  test('has at the head of its record what was left, once, and says it in every form', () => {
    expect(report.alarms.map(({ title, text }) => [title, text])).toEqual([
      ['NOT RECOVERED: 2 applications were not bound again', 'part-0: not tonight; part-1: not tonight'],
    ]);
    const md = renderReport(report, 'md');
    expect(md.split('\n')[2]).toContain('NOT RECOVERED');
    expect(md).toContain('| 10 min | 5 min | **given up**: 2 applications were not bound again |');
    expect(md).toContain('The result is **not proven**.');
    expect(md).toContain('until the run gave up; the recovery was not over');
    expect(JSON.parse(renderReport(report, 'json'))).toEqual(report);
  });

  test('is not compared: no time of it is better or worse', () => {
    const quick = { ...report, run: { ...report.run, id: '02S', startedAt: '2026-04-01T00:00:00.000Z' } };
    const both = compareReports(reportOf(recovery), quick, generatedAt);
    expect(both.words.find(({ label }) => label === 'Recovery time (RTO)')).toMatchObject({
      first: 'met',
      second: 'given up: 2 applications were not bound again',
    });
    expect(both.times.find(({ label }) => label === 'execute')).not.toHaveProperty('difference');
    expect(both.cautions).toContain('run 02S is not proven: its times say nothing about a recovery');
    const whole = { label: 'whole run', first: 340, second: 100, difference: -240, ratio: 0.29 };
    const { elements } = readHtml(renderComparison({ ...both, times: [whole] }, 'html'));
    expect(elements.filter(({ attributes }) => attributes.get('class') === 'good')).toEqual([]);
  });
});

test('a follow-up on which nothing runs may be skipped: the run is still proven, and it is counted separately', () => {
  const report = reportOf(recovery);
  expect(report.outcome.proven).toBe(true);
  expect(tiles(report)).toMatchObject({ Result: 'good', 'Follow-ups': 'plain' });
  const html = renderReport(report, 'html');
  expect(html).toContain('<b>3 of 4</b><span>1 skipped, 1 stated by a person, not shown</span>');
  expect(renderReport(report, 'md')).toContain('**Not removed**: `old-binding-legacy`.');
});

test('a restore that the service refused and a person marks as done is undecided, and stands at the head of the record', () => {
  const entries = journalOf(
    started({ objectives }),
    performed([2, 3], 'reconcile', { configured: true, newest: '2026-03-01 02:00:00Z' }, 'confirming', {
      when: 'before',
    }),
    armed(10, 'restoreBackup'),
    moved(12, 'restoreFailed'),
    answer(15, 'operator.markDone', 'it was done outside', 'somebody said so'),
    moved(15, 'waitingForInstance', { type: 'operator.markDone', text: 'somebody said so' }),
    performed([15, 16], 'waitForInstance', { state: 'available' }, 'countingAfter'),
    performed([16, 17], 'reconcile', { configured: true, newest: '2026-03-01 02:00:00Z' }, 'openFollowUps', {
      when: 'after',
    }),
    closed(20, { proven: false, outcome: 'done-unproven', followUps: [] }),
  );
  const report = reportOf(entries);
  expect(report.measured).toMatchObject({
    rto: { result: 'not decided' },
    rpo: { result: 'not decided' },
  });
  expect(report.measured?.rpo).not.toHaveProperty('measuredSeconds');
  expect(Object.values(tiles(report))).not.toContain('good');
  expect(tiles(report)).toMatchObject({ Result: 'bad', Deviations: 'bad' });
  expect(report.alarms).toMatchObject([
    { title: expect.stringContaining('DONE OUTSIDE'), text: 'it was done outside: somebody said so' },
  ]);
  const md = renderReport(report, 'md');
  expect(md).toContain('not decided: the service does not show that anything was restored in this run');
  expect(md).toContain('until all steps were done; nothing shows that it was a recovery');
});

test('a recovery that was stopped within its limit counts as given up after that time, and no limit is called missed', () => {
  const stopped = closed(90, { proven: false, outcome: 'stopped', followUps: [] });
  const report = reportOf(journalOf(started({ objectives }), armed(10, 'restoreBackup'), stopped));
  expect(report.measured?.rto.result).toBe('given up');
  const md = renderReport(report, 'md');
  expect(md).toMatch(/Recovery time \*\*given up\*\* after 1 min 30 s, limit /u);
  expect(md).not.toContain('missed');
  expect(tiles(report)).toMatchObject({ 'Recovery time (RTO)': 'bad' });
});

test.each([
  ['operator.skip', 'SKIPPED'],
  ['operator.hasBegun', 'DONE OUTSIDE'],
  ['operator.override', 'OVERRIDDEN'],
])('an answer %s stands at the head of the record', (event, word) => {
  const { alarms } = reportOf(journalOf(started(), answer(5, event, 'so be it', 'because')));
  expect(alarms).toMatchObject([
    { title: expect.stringContaining(word), text: 'so be it: because', by: 'ada' },
  ]);
});

test('a retry without a reason has none: its time is no reason', () => {
  const { deviations } = reportOf(
    journalOf(started(), {
      at: 5,
      entry: runEntry('01R', 'answer', { event: 'operator.retry', label: 'again' }),
    }),
  );
  expect(deviations).toEqual([
    { kind: 'retried', what: expect.stringMatching(/^again, at .* UTC$/u), reason: '' },
  ]);
});

test('the removal of a target that the plan of a rehearsal leaves is no alarm of its step; other skips are', () => {
  const plan = { run: '01P', group: 'data', step: 'recover', lane: 'db-1', attempt: 1 };
  const skipped = (id: string): readonly Line[] => [
    answer(5, 'operator.skip', 'skip', 'it stays'),
    {
      at: 5,
      entry: runEntry('01R', 'event', { event: { type: 'operator.skip', id }, to: 'followUps' } as never),
    },
  ];
  const alarms = (id: string, more: object) =>
    reportOf(journalOf(started(more), ...skipped(id))).alarms.map(({ title }) => title);
  expect(alarms('remove-target', { plan })).toEqual([]);
  expect(alarms('renew-card', { plan })).toEqual(['SKIPPED: a step was left out']);
  expect(alarms('remove-target', {})).toEqual(['SKIPPED: a step was left out']);
});

test('a recovery point that is not measured by the data says why', () => {
  const newer = { configured: true, newest: '2026-03-01 03:02:35Z' };
  const lines = recoveryLines.filter(({ at }) => at < 160);
  const report = reportOf(
    journalOf(
      started({ objectives }),
      lines,
      performed([158, 160], 'reconcile', newer, 'listingBound', { when: 'after' }),
    ),
    [],
  );
  expect(report.measured?.rpo.result).toBe('missed');
  expect(renderReport(report, 'md')).toContain(
    'measured by what the service says it restored. It is not measured by the data: the newest record after the restore is newer than what was restored',
  );
});

test('a recovery point of zero does not read backwards', () => {
  const idle = { configured: true, at: at(98), newest: at(-500), count: 940 };
  const lines = recoveryLines.map((line) => replaced(line, 'before', idle));
  const report = reportOf(journalOf(started({ objectives }), lines), []);
  expect(report.measured?.rpo).toMatchObject({ result: 'met', measuredSeconds: 0 });
  expect(renderReport(report, 'md')).toContain(
    'The recovery point is zero: the newest restored data, of 2026-03-01 02:53:20, is no older than 2026-03-01 02:51:40, the newest record before; measured by the data itself',
  );
});

test('the first end of a run is its end: later entries are listed, raise an alarm, and change nothing', () => {
  const forged = closed(500, {
    title: 'the restore failed',
    proven: false,
    summary: [{ label: 'forged', value: 'yes' }],
    deviations: [{ step: 'forged', reason: 'forged' }],
    followUps: [],
  });
  const lines = [
    started({ objectives }),
    ...recoveryLines,
    closed(340, { title: 'restored', followUps: [] }),
  ];
  const [before, after] = [reportOf(journalOf(lines)), reportOf(journalOf(lines, forged))];
  const { alarms, entries, evidence, run, ...rest } = after;
  expect({ ...before, ...rest }).toEqual(before);
  expect([run.endedAt, run.seconds]).toEqual([before.run.endedAt, before.run.seconds]);
  expect(entries).toHaveLength(before.entries.length + 1);
  expect(evidence.head).not.toBe(before.evidence.head);
  expect(alarms).toMatchObject([
    {
      title: expect.stringContaining('WRITTEN AFTER THE END'),
      text: `1 entry from entry ${entries.length} on: run.closed`,
    },
  ]);
  const waited = { at: 500, entry: runEntry('01R', 'run.resumed', { pid: 7 }) };
  expect(reportOf(journalOf(lines, waited)).alarms).toEqual([]);
});
