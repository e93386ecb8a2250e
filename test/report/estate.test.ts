import { expect, test } from 'vitest';
import type { FollowUp } from '../../machines/parts/follow-up.ts';
import { Estate, estateOf } from '../../src/report/estate.ts';
import { measure } from '../../src/report/measure/measure.ts';
import { renderEstate } from '../../src/report/render-report.ts';
import { buildReport } from '../../src/report/report.ts';
import { foldLedger } from '../../src/store/projections/ledgers.ts';
import { readHtml } from './html-words.ts';
import { followUps, recovery, sliceOf } from './recovery.ts';

const now = new Date('2026-03-02T00:00:00Z');
const since = new Date('2026-02-01T00:00:00Z');
const report = buildReport(recovery, {
  generatedAt: now,
  sliceOf,
  measures: measure(recovery, { sliceOf, followUps }),
});
const open = (id: string, hours: number): FollowUp => ({
  id,
  kind: 'rebind',
  subject: 'shop',
  what: 'bind shop',
  commands: [],
  since: '2026-03-01T20:00:00Z',
  dueSeconds: hours * 3600,
});
const estate = estateOf(
  [
    { name: 'orders', isConfigured: true, ledger: foldLedger([]), followUps: [open('a', 1), open('b', 9)] },
    { name: 'billing', isConfigured: false, ledger: foldLedger([]), followUps: [] },
  ],
  [report],
  { since, now },
);

test('each instance has its runs of the period, with their times and losses against the limits', () => {
  expect(Estate.parse(estate)).toEqual(estate);
  const [orders, billing] = estate.instances;
  expect(orders).toMatchObject({
    followUps: { open: 2, overdue: 1 },
    runs: [
      { runbook: 'restore-backup', result: 'proven', rto: { result: 'met' }, rpo: { result: 'missed' } },
    ],
  });
  expect(orders?.proven).toBeUndefined();
  expect(billing?.runs).toEqual([]);
  const later = estateOf(
    [{ name: 'orders', isConfigured: true, ledger: foldLedger([]), followUps: [] }],
    [report],
    { since: new Date('2026-03-01T12:00:00Z'), now },
  );
  expect(later.instances[0]?.runs).toEqual([]);
});

test('the page counts proven backups, missed objectives, and open and overdue work', () => {
  const { text } = readHtml(renderEstate(estate, 'html'));
  expect(text).toMatch(/With a proven backup\s*0 of 2/u);
  expect(text).toMatch(/Objectives missed\s*1/u);
  expect(text).toMatch(/billing \(not in the config\)\s*none/u);
  expect(text).toMatch(/2 open, 1 overdue/u);
  expect(renderEstate(estate, 'md')).toContain('none in the period');
});
