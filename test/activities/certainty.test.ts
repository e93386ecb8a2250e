import { describe, expect, test } from 'vitest';
import { clockSentence } from '../../src/activities/clocks.ts';
import { judgeBackup, judgeTask } from '../../src/activities/doubt.ts';
import type { Look, Task } from '../../src/activities/evaluate-tasks.ts';
import { restoreOfBackup } from '../../src/activities/restore-fits.ts';
import { Backup, Restore } from '../../src/service/schemas.ts';

const ARMED = Date.parse('2026-03-01T03:00:00Z');
const at = (ms: number) => new Date(ARMED + ms).toISOString();
const KNOWN = { skewMs: 0, uncertaintyMs: 500 };

const around = <Row extends Task>(tasks: readonly Row[], skew: typeof KNOWN | null = KNOWN): Look<Row> => ({
  baseline: { tasks: [], skew },
  armedAtMs: ARMED,
  nowMs: ARMED + 60_000,
  inFlightMs: 60_000,
  tasks,
  skew: skew ?? undefined,
});

const restore = (id: number, backup_id: number | undefined, triggered_at?: string) =>
  Restore.parse({ id, backup_id, status: 'running', triggered_at });

describe('the certainty that a task is ours', () => {
  test.for([
    { what: 'the chosen backup, after the request', tasks: [restore(1, 7, at(900))], is: 'certain' },
    { what: 'a backup that is not reported', tasks: [restore(1, undefined, at(900))], is: 'possible' },
    { what: 'the chosen backup, at a time that is not reported', tasks: [restore(1, 7)], is: 'likely' },
    { what: 'the chosen backup, before the request', tasks: [restore(1, 7, at(-60_000))], is: 'unlikely' },
  ])('is graded for a restore: $what', ({ tasks, is }) => {
    expect(gradesOf(judgeTask(around(tasks), restoreOfBackup(7)))).toEqual([is]);
  });

  test('is never certain for a backup, which does not say who requested it', () => {
    const fresh = Backup.parse({ id: 1, status: 'queued', triggered_at: at(900) });
    expect(judgeBackup(around([fresh]))).toMatchObject({
      verdict: 'landed',
      evidence: { certainty: 'likely', candidate: { id: 1, certainty: 'likely', why: 'it is new' } },
    });
    const timeless = Backup.parse({ id: 1, status: 'queued' });
    expect(judgeBackup(around([timeless]))).toMatchObject({ evidence: { certainty: 'possible' } });
  });

  test('does not rest on times if the clock of the service is unknown', () => {
    const judged = judgeTask(around([restore(1, 7, at(900))], null), restoreOfBackup(7));
    expect(gradesOf(judged)).toEqual(['likely']);
    expect(judged).toMatchObject({
      failure: { hints: expect.arrayContaining([expect.stringContaining('does not report its clock')]) },
    });
  });

  test('is shown with the distance of each task to the request, by the clock of the service, nearest first', () => {
    const ahead = { skewMs: 120_000, uncertaintyMs: 500 };
    const tasks = [9, 8, 7].map((id) => restore(id, 5, at(120_000 + (id - 8) * 600_000 + 3_000)));
    const judged = judgeTask(
      around([...tasks, restore(6, 5, at(120_400)), restore(5, 5)], ahead),
      restoreOfBackup(5),
    );
    expect(judged).toMatchObject({
      verdict: 'ambiguous',
      failure: {
        evidence: {
          candidates: [
            { id: 6, secondsFromRequest: 0.4, fromRequest: 'at the moment of the request' },
            { id: 8, secondsFromRequest: 3, fromRequest: '3 s after the request' },
            { id: 9, secondsFromRequest: 603, fromRequest: '10 min 3 s after the request' },
            { id: 5 },
          ],
          others: [{ id: 7, secondsFromRequest: -597, fromRequest: '9 min 57 s before the request' }],
        },
      },
    });
    const unknown = judgeTask(around(tasks, null), restoreOfBackup(5));
    expect(JSON.stringify(unknown)).not.toContain('fromRequest');
  });

  test('the nearest of many candidates is among those shown', () => {
    const tasks = Array.from({ length: 40 }, (_, index) =>
      restore(100 - index, 5, at((40 - index) * 60_000)),
    );
    const judged = judgeTask(around([...tasks, restore(1, 5, at(900))]), restoreOfBackup(5));
    const { candidates } = (judged as unknown as { failure: { evidence: { candidates: { id: number }[] } } })
      .failure.evidence;
    expect(candidates).toHaveLength(20);
    expect(candidates[0]).toMatchObject({ id: 1 });
  });

  test('the absence of the request is certain only by a clock that was known before and after', () => {
    expect(judgeBackup(around([]))).toMatchObject({ verdict: 'absent', evidence: { certainty: 'certain' } });
    expect(judgeBackup(around([], null))).toMatchObject({
      verdict: 'absent',
      evidence: { certainty: 'likely' },
    });
  });
});

describe('the clock of the service, in words', () => {
  test.for([
    [{ skewMs: 200, uncertaintyMs: 700 }, "the service's clock agrees with this machine's, ± 0.7 s"],
    [
      { skewMs: -598_000, uncertaintyMs: 1_000 },
      "the service's clock is 9 min 58 s behind this machine's, ± 1 s",
    ],
    [
      { skewMs: 90_000, uncertaintyMs: 500 },
      "the service's clock is 1 min 30 s ahead of this machine's, ± 0.5 s",
    ],
  ] as const)('says how far it may be wrong: %o', ([skew, sentence]) => {
    expect(clockSentence({ skewBefore: skew, skewNow: skew })).toBe(sentence);
    expect(clockSentence({ skewBefore: skew, skewNow: undefined })).toBe(sentence);
  });

  test('mentions a clock that was set if two measurements differ', () => {
    const sentence = clockSentence({ skewBefore: KNOWN, skewNow: { skewMs: 300_000, uncertaintyMs: 500 } });
    expect(sentence).toContain('a clock was set in between');
    expect(sentence).toContain('is 5 min ahead');
  });
});

function gradesOf(judged: ReturnType<typeof judgeTask>): unknown[] {
  if (judged.verdict === 'landed') return [(judged.evidence as { certainty: string }).certainty];
  if (judged.verdict !== 'ambiguous') return [judged.verdict];
  const { candidates } = judged.failure.evidence as { candidates: { certainty: string }[] };
  return candidates.map(({ certainty }) => certainty);
}
