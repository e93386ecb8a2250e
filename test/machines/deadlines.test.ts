import { expect, test } from 'vitest';
import { withDeadlines } from '../../machines/parts/deadlines.ts';
import type { FollowUp } from '../../machines/parts/follow-up.ts';

const SINCE = '2026-03-01T03:10:00Z';

function openFollowUps(kind: FollowUp['kind'], more: Partial<FollowUp> = {}): FollowUp {
  return { id: kind, kind, subject: 'orders', what: 'see to it', commands: [], since: SINCE, ...more };
}

function due(followUp: FollowUp, from: string | undefined = '2026-03-01T03:00:00Z') {
  return withDeadlines([followUp], { from, rtoSeconds: 1800, rpoSeconds: 3600 })[0]?.dueSeconds;
}

test('applications and keys are due at the end of the recovery time, which runs since the incident', () => {
  expect(due(openFollowUps('rebind'))).toBe(1200);
  expect(due(openFollowUps('service-key'))).toBe(1200);
  expect(due(openFollowUps('rebind'), '2026-03-01T04:40:00+02:00')).toBe(0);
});

test('the restored data is due a backup within the recovery point, and what follows within a day', () => {
  expect(due(openFollowUps('fresh-backup'))).toBe(3600);
  for (const kind of ['renew-card', 'remove-target', 'old-binding', 'release-updates'] as const)
    expect(due(openFollowUps(kind))).toBe(86_400);
});

test('a deadline of its own stays; without a beginning or an objective there is none', () => {
  expect(due(openFollowUps('rebind', { dueSeconds: 7 }))).toBe(7);
  expect(due(openFollowUps('rebind'), 'whenever')).toBeUndefined();
  const { since: _, ...undated } = openFollowUps('rebind');
  expect(due(undated)).toBeUndefined();
  expect(due(openFollowUps('retire-key'))).toBeUndefined();
  expect(withDeadlines([openFollowUps('rebind'), openFollowUps('fresh-backup')], { from: SINCE })).toEqual([
    openFollowUps('rebind'),
    openFollowUps('fresh-backup'),
  ]);
});
