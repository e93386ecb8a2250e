import { expect, test } from 'vitest';
import { type FollowUp, withDeadlines } from '../../machines/parts/follow-up.ts';

const SINCE = '2026-03-01T03:10:00Z';

function followUp(kind: FollowUp['kind'], more: Partial<FollowUp> = {}): FollowUp {
  return { id: kind, kind, subject: 'orders', what: 'see to it', commands: [], since: SINCE, ...more };
}

function due(one: FollowUp, from: string | undefined = '2026-03-01T03:00:00Z') {
  return withDeadlines([one], { from, rtoSeconds: 1800, rpoSeconds: 3600 })[0]?.dueSeconds;
}

test('applications and keys are due at the end of the recovery time, which starts at the incident', () => {
  expect(due(followUp('rebind'))).toBe(1200);
  expect(due(followUp('service-key'))).toBe(1200);
  expect(due(followUp('rebind'), '2026-03-01T04:40:00+02:00')).toBe(0);
});

test('a backup of the restored data is due within the recovery point, and the rest within a day', () => {
  expect(due(followUp('fresh-backup'))).toBe(3600);
  for (const kind of ['renew-card', 'remove-target', 'old-binding', 'release-updates'] as const)
    expect(due(followUp(kind))).toBe(86_400);
});

test('a follow-up with its own deadline keeps it; without a start or an objective there is none', () => {
  expect(due(followUp('rebind', { dueSeconds: 7 }))).toBe(7);
  expect(due(followUp('rebind'), 'whenever')).toBeUndefined();
  const { since: _, ...undated } = followUp('rebind');
  expect(due(undated)).toBeUndefined();
  expect(due(followUp('retire-key'))).toBeUndefined();
  expect(withDeadlines([followUp('rebind'), followUp('fresh-backup')], { from: SINCE })).toEqual([
    followUp('rebind'),
    followUp('fresh-backup'),
  ]);
});
