import { expect, test } from 'vitest';
import { measure } from '../../src/report/measure/measure.ts';
import type { Entry } from '../../src/store/journal.ts';
import { armed, closed, followUps, journalOf, performed, sliceOf, started } from './recovery.ts';
import { runReport } from './written-report.ts';

const generatedAt = new Date('2026-03-02T00:00:00Z');

const card = {
  backupGuid: 'd9a5b6e7',
  instanceId: '1',
  serviceId: 'postgresql',
  planId: 'single',
  preparedAt: '2026-02-01T00:00:00.000Z',
};
const elsewhere = started({ runbook: 'disaster-recovery', target: 'orders-dr' });
const inspected = { identity: { instanceId: '2', name: 'orders-dr' }, clockSkewSeconds: 0 };

test('the record of a recovery into another instance names both: the source by its card, the target as it was checked', () => {
  const text = reportOf(
    journalOf(
      elsewhere,
      performed([1, 2], 'readCard', { card, proven: [], keysHeld: [] }, 'choosingSource'),
      performed([3, 4], 'inspectTarget', inspected, 'confirming'),
    ),
  );
  expect(text).toContain('## Where the data came from');
  expect(text).toContain(
    '| In the config | orders |\n| Instance id | 1 |\n| Guid of its backups | d9a5b6e7 |',
  );
  expect(text).toContain('| Recovery card of | 2026-02-01 00:00:00 UTC |\n| Asked in this run | no |');
  expect(text).toContain('| In the config | orders-dr |\n| Instance id | 2 |');
});

test('a source that was never on a card is still named', () => {
  const text = reportOf(
    journalOf(elsewhere, performed([1, 2], 'readCard', { proven: [], keysHeld: [] }, 'enteringGuid')),
  );
  expect(text).toContain('| In the config | orders |\n| Asked in this run | no |');
});

test('a recovery within one instance has no other source', () => {
  expect(reportOf(journalOf(started()))).not.toContain('Where the data came from');
});

test('each change at the platform names the application or service key that it was about', () => {
  const app = { key: 'orders-api', name: 'orders-api', guid: 'a-1' };
  const text = reportOf(
    journalOf(
      started(),
      repeatable(performed([1, 2], 'unbindApp', { outcome: 'done' }, 'binding', { app })),
      repeatable(
        performed([3, 4], 'renewKey', { outcome: 'done' }, 'openFollowUps', { key: { name: 'ops' } }),
      ),
    ),
  );
  expect(text).toMatch(/\| unbind app \| orders-api \| done \|/u);
  expect(text).toMatch(/\| renew key \| ops \| done \|/u);
});

test('a restart has no recovery point to meet or miss', () => {
  const entries = journalOf(
    started({ runbook: 'change-instance', objectives: { rtoSeconds: 60, rpoSeconds: 60 } }),
    armed(1, 'restart'),
    performed([1, 2], 'waitForInstance', { state: 'available' }, 'done'),
    closed(3),
  );
  const text = runReport(entries, { generatedAt, measures: measure(entries, { sliceOf }) });
  expect(text).toContain('| Recovery point (RPO) | 1 min | nothing was restored | does not apply |');
  expect(text).not.toContain('The recovery point');
});

test('the own instance is shown with its id and with the offering that it was made from', () => {
  const service = { id: '7', name: 'orders-db', plan: 'single', offering: 'postgresql' };
  const output = { service, baseline: { serviceId: '7', state: 'available' } };
  const text = reportOf(journalOf(started(), performed([1, 2], 'preflight', output, 'confirming')));
  expect(text).toContain(
    '| Instance id | 7 |\n| Name at the service | orders-db |\n| Service id | postgresql |\n| Plan id | single |',
  );
});

test('the backup that was restored in place is shown with all that the service and the recorded proofs say about it', () => {
  const backup = { id: 7, backupId: 'b-7', size: 4096, triggeredAt: '2026-02-28T01:00:00Z', status: 'done' };
  const listed = { newest: [{ id: 8, backupId: 'b-8' }, backup], total: 2 };
  const record = { proven: [{ id: 7, backupId: 'b-7', fingerprint: '0a1b2c3d4e5f' }], keysHeld: [] };
  const text = reportOf(
    journalOf(
      started(),
      performed([1, 2], 'listBackups', listed, 'choosingBackup'),
      performed([2, 3], 'readCard', record, 'confirming'),
      armed(4, 'restoreBackup'),
      performed([4, 5], 'restoreBackup', { landed: true, id: 4 }, 'waitingForRestore', { backup: 7 }),
    ),
  );
  expect(text).toContain(
    '| Backup | 7 |\n| backup\\_id | b-7 |\n| Size in bytes | 4096 |\n| Backup triggered | 2026-02-28 01:00:00 UTC |',
  );
  expect(text).toContain('| Key (fingerprint in this key store) | 0a1b2c3d4e5f |\n| Restore | 4 |');
});

test('the backups of a target are not confused with those of the source', () => {
  const record = { proven: [{ id: 7, backupId: 'b-7', fingerprint: '0a1b2c3d4e5f' }], keysHeld: [] };
  const input = { backupGuid: 'b-9', source: 'orders' };
  const text = reportOf(
    journalOf(
      elsewhere,
      performed([1, 2], 'readCard', record, 'confirming'),
      armed(4, 'performRecovery'),
      performed([4, 5], 'performRecovery', { landed: true, id: 4 }, 'waitingForRestore', input),
      performed([5, 6], 'waitForRestore', { id: 4, status: 'done', backup: 7 }, 'waitingForInstance'),
    ),
  );
  expect(text).not.toContain('0a1b2c3d4e5f');
});

test('a point in time is shown with the times that could be reached', () => {
  const range = { earliest: '2026-02-01T00:00:00Z', latest: '2026-03-01T02:00:00Z' };
  const input = { targetTime: '2026-03-01T01:00:00Z' };
  const text = reportOf(
    journalOf(
      started(),
      performed([1, 2], 'pitrRange', range, 'confirming'),
      armed(4, 'restoreToTime'),
      performed([4, 5], 'restoreToTime', { landed: true, id: 4 }, 'waitingForRestore', input),
    ),
  );
  expect(text).toContain(
    '| Recoverable from | 2026-02-01 00:00:00 UTC |\n| Recoverable until | 2026-03-01 02:00:00 UTC |',
  );
});

test('where no file is named, the record says which bundle contains them with their hashes', () => {
  expect(reportOf(journalOf(started()))).toContain('are in the bundle: `lifeboat audit export 01R`.');
});

test('what was skipped is listed once as a deviation', () => {
  const [, , skipped] = followUps;
  const deviations = [{ step: 'old-binding-legacy', reason: 'retired last week' }];
  const text = reportOf(journalOf(started(), closed(9, { followUps: [must(skipped)], deviations })));
  expect(
    text.slice(text.indexOf('## Deviations'), text.indexOf('## Changes')).match(/retired/gu),
  ).toHaveLength(1);
});

test('the ids that prove a closed follow-up are listed in full, step by step', () => {
  const auditEvents = Array.from({ length: 4 }, (_, index) => `audit.app.build.create 87fd4f7c-${index}`);
  const [first] = followUps;
  const evidence = { bind: { job: 'j-1', auditEvents }, restage: { deployment: 'd-1' } };
  const closure = { how: 'platform' as const, text: 'restaged', evidence };
  const text = reportOf(
    journalOf(started(), closed(9, { followUps: [{ ...must(first), closed: closure }] })),
  );
  const id = must(first).id;
  expect(text).toContain(
    [
      `| \`${id}\` | bind job | \`j-1\` |`,
      `| \`${id}\` | bind audit events | \`${auditEvents.join(', ')}\` |`,
      `| \`${id}\` | restage deployment | \`d-1\` |`,
    ].join('\n'),
  );
});

function reportOf(entries: readonly Entry[]): string {
  return runReport(entries, { generatedAt });
}

/** The same as a step that changes something and may be done again. */
function repeatable(lines: ReturnType<typeof performed>): ReturnType<typeof performed> {
  return lines.map(({ at, entry }) =>
    entry.type === 'activity.begun'
      ? { at, entry: { ...entry, body: { ...(entry.body as object), kind: 'repeatable' } } }
      : { at, entry },
  );
}

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the recovery has no such follow-up');
  return value;
}
