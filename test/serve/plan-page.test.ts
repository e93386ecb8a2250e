import { expect, test } from 'vitest';
import { planPage } from '../../src/serve/models/plan-page.ts';
import type { PlanOutcome } from '../../src/view/plan/plan-view.ts';
import { NOW_MS, viewOf } from '../view/plan/fake-plan.ts';

/** What the page says of the recovery time of a plan that ended so, ten minutes after its begin. */
function rtoOf(outcome: PlanOutcome | undefined): string {
  const run = {
    ...{ runId: 'RUN', runbook: 'plan', instance: 'plan.west', mode: 'REHEARSAL', where: 'somewhere' },
    ...{ status: outcome === undefined ? 'open' : 'closed', startedAt: '2026-03-10T11:50:00Z' },
  } as const;
  const beside = {
    ...{ run: run as never, sinceMs: undefined, changes: { changes: [], more: 0 }, followUps: [] },
    forecast: undefined,
  };
  const moment = { at: new Date(NOW_MS), log: { size: 1, root: 'aa' } };
  return planPage(viewOf({ outcome }), beside, moment).objectives[0]?.words ?? '';
}

test('the page of a plan calls its RTO met only where every step of every instance is done', () => {
  const ended = (title: string, tone: PlanOutcome['tone']) => rtoOf({ title, tone, endedMs: NOW_MS });
  expect(ended('every step is done', 'good')).toMatch(/: met$/u);
  expect(ended('abandoned: by hand', 'warn')).toMatch(/of 30 min$/u);
  expect(ended('it was stopped', 'warn')).toMatch(/of 30 min$/u);
  expect(rtoOf(undefined)).toMatch(/of 30 min$/u);
});
