import { describe, expect, test } from 'vitest';
import { restoreBackup } from '../../src/activities/begin-task.ts';
import { judgeBackup, judgeTask } from '../../src/activities/doubt.ts';
import type { Look, Task } from '../../src/activities/evaluate-tasks.ts';
import { restoreOfBackup } from '../../src/activities/restore-fits.ts';
import { Backup, Restore } from '../../src/service/schemas.ts';
import { fakeService } from './fake-service.ts';
import { contextOf } from './world.ts';

const ARMED = Date.parse('2026-03-01T03:00:00Z');
const IN_FLIGHT = 2_000;
const CLOCK = { skewMs: 0, uncertaintyMs: 500 };

const restore = (id: number, backup = 3, atMs = ARMED - 9e6 + id * 1_000) =>
  Restore.parse({ id, status: 'done', backup_id: backup, triggered_at: new Date(atMs).toISOString() });
const known = (rows: readonly Task[]) => rows.map((one) => [one.id, Date.parse(String(one.triggered_at))]);

/**
 * Looks once for a lost restore of backup 3, when it can no longer be under way: the list showed `before` and
 * shows `now`; the service has all of `there`.
 */
async function lookFor(
  before: readonly Restore[],
  now: readonly Restore[],
  there: readonly Restore[] = now,
  unread: readonly { readonly id: number | undefined }[] = [],
) {
  const fake = fakeService(() => ARMED + 60_000, IN_FLIGHT);
  fake.restores.push(...there);
  const service = {
    ...fake.deps.service,
    limits: undefined,
    restores: async () => ({ value: now, skew: CLOCK, unread }),
  };
  const verb = restoreBackup({ ...fake.deps, service } as never);
  const baseline = { tasks: known(before), underWay: [], skew: CLOCK } as never;
  const memory = { baseline, armedAt: new Date(ARMED).toISOString(), looks: 0 };
  const context = contextOf(() => new Date(ARMED + 60_000));
  const judgement = await verb.judge({ intent: 'I', backup: 3 }, memory, context);
  return { judgement, asked: fake.calls };
}

describe('a lost restore is not called absent because of a list that might not have shown it', () => {
  const old = [restore(1), restore(2), restore(3)];
  const ours = restore(4, 3, ARMED + 900);

  test('one with the oldest only: the service has the restore, and a person is shown it', async () => {
    const { judgement } = await lookFor(old, old, [...old, ours]);
    expect(judgement).toMatchObject({
      verdict: 'ambiguous',
      failure: {
        code: 'doubt.ambiguous',
        shortMessage: 'the answer was lost, and the service has restore 4, which its list leaves out',
        evidence: { candidates: [{ id: 4 }] },
      },
    });
  });

  test.for([
    [4, 'restore 4 in the list of restores cannot be read and may be ours'],
    [undefined, 'a row in the list of restores cannot be read and may be ours'],
  ] as const)('one with a new row that cannot be read (%s)', async ([id, finding], context) => {
    const { judgement } = await lookFor(old, old, old, [{ id }]);
    context.expect(judgement).toMatchObject({
      verdict: 'ambiguous',
      failure: { code: 'doubt.list-changed', shortMessage: `the answer was lost, and ${finding}` },
    });
  });

  test('but one whose odd row was there before shows its absence', async () => {
    const { judgement } = await lookFor(old, old.slice(0, 2), old, [{ id: 3 }]);
    expect(judgement).toMatchObject({ verdict: 'absent' });
  });

  test('one with the newest only, whose places are all taken by others', async () => {
    const later = [5, 6, 7].map((id) => restore(id, 6, ARMED + id * 1_000));
    const { judgement } = await lookFor(old, later, [...old, ours, ...later]);
    expect(judgement).toMatchObject({ verdict: 'ambiguous', failure: { code: 'doubt.list-changed' } });
  });

  test('one with the newest only, on the very first call', async () => {
    const later = restore(2, 6, ARMED + 5_000);
    const first = restore(1, 3, ARMED + 900);
    const { judgement } = await lookFor([], [later], [first, later]);
    expect(judgement).toMatchObject({ failure: { evidence: { candidates: [{ id: 1 }] } } });
  });

  test('one that has lost a restore that it showed', async () => {
    const { judgement } = await lookFor(old, old.slice(1));
    expect(judgement).toMatchObject({ failure: { code: 'doubt.list-changed' } });
  });

  test('one whose ids have gaps, so that the next id cannot be requested', async () => {
    const gaps = [restore(11), restore(58)];
    const { judgement, asked } = await lookFor(gaps, gaps);
    expect(judgement).toMatchObject({
      verdict: 'ambiguous',
      failure: {
        code: 'doubt.list-short',
        shortMessage:
          'the answer was lost, and the list of restores shows none, but it may leave out the newest',
      },
    });
    expect(asked).toEqual([]);
  });

  test('one of a service that knows no restore by its id', async () => {
    expect((await lookFor(old, old, [])).judgement).toMatchObject({ failure: { code: 'doubt.list-short' } });
  });
});

describe('a lost restore is absent', () => {
  test('where the list is unchanged, and the service has none of the next ids', async () => {
    const old = [restore(1), restore(2)];
    const { judgement, asked } = await lookFor(old, old);
    expect(judgement).toMatchObject({ verdict: 'absent' });
    expect(asked).toEqual(['restore', 'restore', 'restore', 'restore']);
  });

  test('where the row that the list leaves out restores another backup', async () => {
    const old = [restore(1), restore(2)];
    const other = restore(3, 6, ARMED + 900);
    expect((await lookFor(old, old, [...old, other])).judgement).toMatchObject({ verdict: 'absent' });
  });

  test('if the list was empty and still is: even a partial list would show the restore', async () => {
    expect((await lookFor([], [])).judgement).toMatchObject({ verdict: 'absent' });
  });
});

describe('a backup that is no longer listed', () => {
  const backup = (id: number) =>
    Backup.parse({ id, status: 'done', triggered_at: new Date(ARMED - 9e6 + id * 1_000).toISOString() });
  const all = [1, 2, 3].map(backup);
  const judged = (rows: readonly Backup[]) =>
    judgeBackup({
      baseline: { tasks: known(all), skew: CLOCK },
      armedAtMs: ARMED,
      nowMs: ARMED + 60_000,
      inFlightMs: IN_FLIGHT,
      tasks: rows,
      skew: CLOCK,
      beyond: 'none',
    } as Look<Backup>);

  test('is explained by the retention if it is the oldest', () => {
    expect(judged(all.slice(1))).toMatchObject({ verdict: 'absent' });
    expect(judged(all.slice(2))).toMatchObject({ verdict: 'absent' });
  });

  test('makes the list prove nothing if it is not among the oldest', () => {
    for (const rows of [all.slice(0, 2), all.filter(({ id }) => id !== 2), []])
      expect(judged(rows)).toMatchObject({ failure: { code: 'doubt.list-changed' } });
  });
});

test('a row without a time and with a lower id than those listed does not count as a new one', () => {
  const look = {
    baseline: { tasks: [[7, null]], skew: CLOCK },
    armedAtMs: ARMED,
    nowMs: ARMED + 60_000,
    inFlightMs: IN_FLIGHT,
    skew: CLOCK,
  };
  const bare = (id: number) => ({ id, status: 'done', backup_id: 3 });
  const tasks = [bare(5), bare(7)].map((row) => Restore.parse(row));
  expect(judgeTask({ ...look, tasks } as never, restoreOfBackup(3)).verdict).toBe('ambiguous');
  const backups = [bare(5), bare(7)].map((row) => Backup.parse({ ...row, backup_id: null }));
  expect(judgeBackup({ ...look, tasks: backups } as never).verdict).toBe('ambiguous');
});
