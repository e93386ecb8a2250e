import { expect, test } from 'vitest';
import { withDeadlines } from '../../machines/parts/deadlines.ts';
import type { Obligation } from '../../machines/parts/obligation.ts';

const SINCE = '2026-03-01T03:10:00Z';

function owed(kind: Obligation['kind'], more: Partial<Obligation> = {}): Obligation {
  return { id: kind, kind, subject: 'orders', what: 'see to it', commands: [], since: SINCE, ...more };
}

function due(obligation: Obligation, from: string | undefined = '2026-03-01T03:00:00Z') {
  return withDeadlines([obligation], { from, rtoSeconds: 1800, rpoSeconds: 3600 })[0]?.dueSeconds;
}

test('applications and keys are due at the end of the recovery time, which runs since the incident', () => {
  expect(due(owed('rebind'))).toBe(1200);
  expect(due(owed('service-key'))).toBe(1200);
  expect(due(owed('rebind'), '2026-03-01T04:40:00+02:00')).toBe(0);
});

test('the restored data is due a backup within the recovery point, and what follows within a day', () => {
  expect(due(owed('fresh-backup'))).toBe(3600);
  for (const kind of ['renew-card', 'remove-target', 'old-binding', 'release-updates'] as const)
    expect(due(owed(kind))).toBe(86_400);
});

test('a deadline of its own stays; without a beginning or an objective there is none', () => {
  expect(due(owed('rebind', { dueSeconds: 7 }))).toBe(7);
  expect(due(owed('rebind'), 'whenever')).toBeUndefined();
  const { since: _, ...undated } = owed('rebind');
  expect(due(undated)).toBeUndefined();
  expect(due(owed('retire-key'))).toBeUndefined();
  expect(withDeadlines([owed('rebind'), owed('fresh-backup')], { from: SINCE })).toEqual([
    owed('rebind'),
    owed('fresh-backup'),
  ]);
});
