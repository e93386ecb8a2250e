import { expect, test } from 'vitest';
import { measure } from '../../src/report/measure/measure.ts';
import { buildReport } from '../../src/report/report.ts';
import type { Entry } from '../../src/store/journal.ts';
import { runEntry } from '../../src/store/run-entries.ts';
import {
  armed,
  at,
  followUps,
  journalOf,
  objectives,
  performed,
  recovery,
  recoveryLines,
  sliceOf,
  started,
} from './recovery.ts';
import { withTexts } from './with-texts.ts';
import { runReport } from './written-report.ts';

const generatedAt = new Date('2026-03-02T00:00:00Z');
const report = runReport(recovery, { generatedAt, measures: measure(recovery, { sliceOf }) });

test.each([
  ['the recovery time against its limit', '| Recovery time (RTO) | 10 min | 5 min | **met** |'],
  ['the recovery point against its limit', '| Recovery point (RPO) | 5 min | 6 min | **missed** |'],
  [
    'from when to when it counts',
    'From the start of the run, 2026-03-01 03:00:00, until the recovery was over, 2026-03-01 03:05:00.',
  ],
  [
    'the slices',
    '| decide | 1 min 40 s | until the destructive call could be sent, with the questions and approvals before it |\n| queue | 10 s |',
  ],
  ['what to know about the figures', '- times of the service are corrected by -2 s'],
  [
    'what the recovery point is',
    'to 2026-03-01 02:59:20, the newest record before; measured by the data itself',
  ],
  [
    'which backup was restored',
    '| Backup | 7 |\n| Restore | 4 |\n| Restore status | done |\n| Restored from |',
  ],
  [
    'what was changed',
    '| In the config | orders |\n| Name at the service | orders-db |\n| Plan id | postgresql-single |',
  ],
  ['the data before', '| before | 2026-03-01 03:00:30 | 2026-03-01 02:59:20 UTC | 1000 |'],
  ['the data after', '| after | 2026-03-01 03:02:40 | 2026-03-01 02:53:20 UTC | 940 |'],
  ['how many follow-ups there were', '4 in all, 0 open, 1 skipped.'],
  [
    'who did what, after how long',
    '| `rebind-orders-api` | unbind, bind and restage orders-api | Ada | 1 min 25 s | by the platform 2026-03-01 03:04:10: restaged, running |',
  ],
  [
    'which ids prove it',
    '| `rebind-orders-api` | deployment | `d-1` |\n| `rebind-orders-api` | audit event | `e-9` |',
  ],
  [
    'what was done by hand, and when that was said',
    '| Ada | 2 min 15 s | by hand 2026-03-01 03:05:00: restaged by the night shift |',
  ],
  [
    'as deviations what a step left out, what people did in its place, and what was not done',
    '- unbind: retired last week\n- by hand: unbind, bind and restage billing: restaged by the night shift\n- skipped: remove the binding of legacy: retired last week',
  ],
  ['what was skipped and why', '**skipped**: retired last week'],
])('the record of a recovery says %s', (_what, text) => {
  expect(report).toContain(text);
});

test('the record of a run with open follow-ups says so, and by how much they are overdue', () => {
  const entries = journalOf(started({ objectives }), recoveryLines);
  const open = followUps.map((one) =>
    one.kind === 'rebind' ? { ...one, closed: undefined, dueSeconds: 60 } : one,
  );
  const measures = measure(entries, { sliceOf, followUps: open });
  const text = runReport(entries, { generatedAt, measures, followUps: open });
  expect(text).toContain('4 in all, 2 open, 1 skipped.');
  expect(text).toContain('**This run is still open.** It is at: done. **It has 2 open follow-ups.**');
  expect(text).toContain('| Duration | not over |');
  expect(text).toContain('a run lists what it proved when it is closed');
  expect(text).toContain('| 2 min 50 s, due after 1 min | **still open** |');
  expect(text).toContain('until now; the recovery is not over');
  expect(text).toContain('| Recovery time (RTO) | 10 min | 5 min 35 s | not decided |');
});

test('an open run is a state and not a deviation, and what its steps left out is listed when it closes', () => {
  const resumed = { at: 5, entry: runEntry('01R', 'run.resumed', { pid: 7 }) };
  const entries = journalOf(started(), resumed);
  const { outcome, deviations } = buildReport(entries, { generatedAt });
  expect(outcome.status).toBe('open');
  expect(deviations.map(({ kind }) => kind)).toEqual(['resumed']);
  const text = runReport(entries, { generatedAt });
  const later = 'The run is still open: what its steps left out is listed when it closes.';
  expect(text).toContain('| Deviations from the runbook | **So far**: resumed: another process');
  expect(text).toMatch(new RegExp(`^- resumed: another process .+\\n\\n${later}$`, 'mu'));
  const smooth = runReport(journalOf(started()), { generatedAt });
  expect(smooth).toContain('| Deviations from the runbook | None so far. |');
  expect(smooth).not.toContain('done as the runbook says');
});

test('the record of a recovery into another instance names it as it was checked, and the incident', () => {
  const identity = { instanceId: 'i-7', name: 'orders-dr', planId: 'p-1', backups: 0, boundApps: [] };
  const input = { instance: 'orders', target: 'orders-dr', incidentAt: at(-60), reason: 'region lost' };
  const text = runReport(
    journalOf(
      started({ target: 'orders-dr', input }),
      performed([1, 2], 'inspectTarget', { identity, blockers: [] }, 'confirming', { on: 'target' }),
      armed(3, 'performRecovery'),
      performed([3, 4], 'performRecovery', { landed: true, id: 1 }, 'waitingForRestore', {
        backupGuid: 'g-1',
        fingerprint: '5f4e3d2c1b0a',
        source: 'orders',
      }),
    ),
    { generatedAt },
  );
  expect(text).toContain('| Target | orders-dr |');
  expect(text).toContain('| Reason | region lost |\n| Incident | 2026-03-01 02:59:00 UTC |');
  expect(text).toContain(
    '| In the config | orders-dr |\n| Instance id | i-7 |\n| Name at the service | orders-dr |',
  );
  expect(text).toContain('| Backups of its own before | 0 |\n| Bound applications before | none |');
  expect(text).toContain(
    '| Backup guid | g-1 |\n| Source of the data | orders |\n| Key (fingerprint in this key store) | 5f4e3d2c1b0a |',
  );
});

test('a reconciliation that failed gives the reason', () => {
  const failed = {
    configured: true,
    at: at(1),
    failure: { code: 'x', shortMessage: 'psql: no route to host' },
  };
  const text = runReport(
    journalOf(started(), performed([0, 1], 'reconcile', failed, 'confirming', { when: 'before' })),
    { generatedAt },
  );
  expect(text).toContain('| before | 2026-03-01 03:00:01 |  |  | failed: psql: no route to host |');
});

test('no text of the service, the data or the operator can format or act in the record', () => {
  const hostile = '\u001b[2J</td>| **b** `c` ![i](http://h)\n# title';
  const text = runReport(
    recovery.map((entry) => ({ ...entry, body: withTexts(entry.body, hostile, isWord) as Entry['body'] })),
    {
      generatedAt,
      measures: measure(recovery, { sliceOf }),
      followUps: withTexts(followUps, hostile, isWord) as typeof followUps,
    },
  ).replace(/(?<!\\)`[^`\n]*`/gu, 'code');
  expect(text).not.toMatch(/[^\n -~…\ufffd\u2014]/u);
  expect(text).not.toMatch(/<|(?<!\\)!\[|(?<!\\)\*\*b|^# title/mu);
});

/** The words that the reader of the entries goes by. */
function isWord(text: string): boolean {
  return /^(?:LIVE|read|before|after|xstate\..*|reconcile|restoreBackup|preflight|waitForRestore)$/u.test(
    text,
  );
}
