import { describe, expect, test } from 'vitest';
import {
  DrillRecord,
  drillDue,
  drillReportOf,
  dueWords,
  futureDrillWords,
  isFailure,
} from '../../../src/report/drill/drill-report.ts';
import { renderDrill } from '../../../src/report/render-report.ts';
import { chapter, drillAt } from './drills.ts';

const DAY = 86_400_000;
const now = new Date('2026-03-10T12:00:00Z');

describe('the next drill', () => {
  test('is due one period after the newest proven one; a failed one does not count', () => {
    const records = [
      drillAt('2026-01-01T00:00:00Z'),
      drillAt('2026-02-01T00:00:00Z'),
      drillAt('2026-03-01T00:00:00Z', { outcome: 'failed' }),
    ];
    const due = drillDue(records, 30 * DAY, now);
    expect(due).toMatchObject({
      dueAt: '2026-03-03T00:00:00.000Z',
      isOverdue: true,
      last: { outcome: 'failed' },
      lastProven: { at: '2026-02-01T00:00:00Z' },
    });
    expect(dueWords(due)).toBe('OVERDUE since 2026-03-03 00:00:00 UTC (every 30 days)');
    expect(dueWords(drillDue(records, 90 * DAY, now))).toBe('2026-05-02 00:00:00 UTC (every 90 days)');
  });

  test('is due at once where none was ever proven, and never where the config requires none', () => {
    expect(drillDue([], 30 * DAY, now)).toMatchObject({ isOverdue: true, dueAt: now.toISOString() });
    expect(drillDue([], undefined, now)).toMatchObject({ isOverdue: false, dueAt: undefined });
  });

  test('does not count a drill in progress as the last one, but does count one whose process died', () => {
    const { endedAt: _, ...running } = drillAt('2026-03-10T11:00:00Z', { outcome: 'running' });
    expect(drillDue([running], DAY, now).last).toBeUndefined();
    const { last, isOverdue } = drillDue([{ ...running, outcome: 'died' }], DAY, now);
    expect([last && isFailure(last), isOverdue]).toEqual([true, true]);
  });

  test('is not delayed by a drill dated in the future, which is named; a clock may be a little ahead', () => {
    const records = [
      drillAt('2026-01-01T00:00:00Z'),
      drillAt('2026-03-10T12:04:00Z'),
      drillAt('2036-01-01T00:00:00Z'),
    ];
    const due = drillDue(records, 30 * DAY, now);
    expect(due).toMatchObject({
      dueAt: '2026-04-09T12:04:00.000Z',
      last: { at: '2026-03-10T12:04:00Z', ageSeconds: 0 },
      fromFuture: ['20360101-000000'],
    });
    expect(futureDrillWords(due)).toBe(
      'nothing is counted from 1 drill of a time still to come: 20360101-000000',
    );
  });

  test('ignores a record with invalid times', () => {
    expect(DrillRecord.safeParse(drillAt('2026-03-10T12:00:00Z')).success).toBe(true);
    for (const wrong of [{ begunAt: 'bad-date' }, { endedAt: '2026-13-01T00:00:00Z' }])
      expect(DrillRecord.safeParse(drillAt('2026-03-10T12:00:00Z', wrong)).success).toBe(false);
  });
});

describe('the report of a drill', () => {
  const before = [
    drillAt('2026-01-01T00:00:00Z', { chapters: [{ ...chapter, rtoSeconds: 400 }] }),
    drillAt('2026-02-01T00:00:00Z', { scope: 'rotate-key' }),
    drillAt('2026-02-02T00:00:00Z', { revision: '61' }),
    drillAt('2026-03-01T00:00:00Z', { chapters: [{ ...chapter, rtoSeconds: 6 }] }),
  ];
  const drill = drillAt('2026-03-10T11:59:00Z');
  const report = drillReportOf(drill, [...before, drill], 90 * DAY, now);

  test('compares the drills of the same scope and revision, oldest first, with this one at the end', () => {
    expect(report.trends).toHaveLength(1);
    expect(
      report.trends[0]?.rows.map(({ at, rtoSeconds, meetsRto }) => [at.slice(0, 10), rtoSeconds, meetsRto]),
    ).toEqual([
      ['2026-01-01', 400, false],
      ['2026-03-01', 6, true],
      ['2026-03-10', 4, true],
    ]);
  });

  test('says the same in Markdown and HTML, and is the data itself in JSON', () => {
    const [md, html] = [renderDrill(report, 'md'), renderDrill(report, 'html')];
    for (const words of [
      '6 min 40 s',
      'MISSED',
      '2 s shorter than in the drill before',
      '2026-06-08 11:59:00 UTC',
    ]) {
      expect(md).toContain(words);
      expect(html.replaceAll(/<[^>]+>/gu, '')).toContain(words);
    }
    expect(JSON.parse(renderDrill(report, 'json'))).toEqual(JSON.parse(JSON.stringify(report)));
  });

  test('names the checks that failed, and none of its texts acts', () => {
    const bad = drillAt('2026-03-10T11:59:00Z', {
      outcome: 'not-proven',
      failure: '<script>alert(1)</script>',
      chapters: [
        { ...chapter, outcome: 'not-proven', tables: [{ name: 'orders', rows: 1, equal: false }] },
        { ...chapter, title: 'another', outcome: 'unplayed' },
      ],
    });
    const html = renderDrill(drillReportOf(bad, [], undefined, now), 'html');
    expect(html).toContain('NOT PROVEN');
    expect(html).toContain('table orders');
    expect(html).toContain('not played');
    expect(html).not.toContain('<script>');
  });
});
