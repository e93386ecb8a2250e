import fc from 'fast-check';
import { expect, test } from 'vitest';
import { judgeBackup, judgeTask } from '../../src/activities/doubt.ts';
import { ActionBaseline, judgeAction } from '../../src/activities/doubt-action.ts';
import { TaskBaseline } from '../../src/activities/evaluate-tasks.ts';
import { restoreOfBackup } from '../../src/activities/restore-fits.ts';
import { Backup, InstanceOverview, Restore } from '../../src/service/schemas.ts';

const ARMED = Date.parse('2026-03-01T03:00:00Z');
const WINDOW = 60_000;
const LOST = TaskBaseline.parse({ lost: true });

const restore = (id: number, atMs: number, backup = 3) =>
  Restore.parse({ id, status: 'done', backup_id: backup, triggered_at: new Date(atMs).toISOString() });

const around = <Row>(tasks: readonly Row[], nowMs: number) => ({
  baseline: LOST,
  armedAtMs: ARMED,
  nowMs,
  inFlightMs: WINDOW,
  tasks,
  skew: { skewMs: 0, uncertaintyMs: 0 },
});

test('a call whose record is lost is never decided by itself as done or absent, whatever the service shows', () => {
  const time = fc.integer({ min: ARMED - 9e8, max: ARMED + 9e8 });
  const tasks = fc.array(fc.tuple(fc.nat(9), time, fc.nat(4)), { maxLength: 6 });
  const after = fc.integer({ min: 0, max: 9e8 });
  fc.assert(
    fc.property(tasks, after, fc.option(fc.nat(4)), (rows, later, backup) => {
      const restores = rows.map(([id, at, of]) => restore(id, at, of));
      const nowMs = ARMED + later;
      const judged = judgeTask(around(restores, nowMs), restoreOfBackup(backup ?? undefined));
      const backups = restores.map(({ id, status, triggered_at }) =>
        Backup.parse({ id, status, triggered_at }),
      );
      for (const { verdict } of [judged, judgeBackup(around(backups, nowMs))])
        expect(verdict === 'wait' ? later <= WINDOW : verdict === 'ambiguous').toBe(true);
    }),
  );
});

test('a person is shown what the service lists since the call, and nothing earlier', () => {
  const rows = [restore(1, ARMED - 9e6), restore(2, ARMED + 4_000), restore(3, ARMED + 9_000, 8)];
  const judged = judgeTask(around(rows, ARMED + WINDOW + 1), restoreOfBackup(3));
  expect(judged).toMatchObject({
    verdict: 'ambiguous',
    failure: {
      code: 'doubt.ambiguous',
      shortMessage: 'the record of the call is lost, and the service shows 2 restores since it was sent',
      evidence: { candidates: [{ id: 2, certainty: 'possible' }], others: [{ id: 3 }] },
    },
  });
});

test('if the input is lost too, any restore since the call may be it', () => {
  const rows = [restore(2, ARMED + 4_000), restore(3, ARMED + 9_000, 8)];
  const judged = judgeTask(around(rows, ARMED + WINDOW + 1), restoreOfBackup(undefined));
  expect(judged).toMatchObject({ failure: { evidence: { candidates: [{ id: 2 }, { id: 3 }] } } });
});

test('a deploying instance does not show that a lost action is done', () => {
  const overview = InstanceOverview.parse({
    state: 'deploying',
    updated_at: new Date(ARMED + 1_000).toISOString(),
  });
  for (const action of ['restart', 'recreate', 'update'] as const)
    expect(
      judgeAction({
        ...around([], ARMED + WINDOW + 1),
        action,
        baseline: ActionBaseline.parse({ lost: true }),
        overview,
      }),
    ).toMatchObject({ verdict: 'ambiguous', failure: { code: 'doubt.no-trace' } });
});
