import { describe, expect, test } from 'vitest';
import { judgeBackup, judgeTask } from '../../src/activities/doubt.ts';
import { judgeAction } from '../../src/activities/doubt-action.ts';
import type { Look, Task } from '../../src/activities/evaluate-tasks.ts';
import { restoreOfBackup, restoreToInstant } from '../../src/activities/restore-fits.ts';
import { Backup, Restore } from '../../src/service/schemas.ts';
import type { Entry } from '../../src/store/journal.ts';
import { foldSends } from '../../src/store/projections/sends.ts';

const MINUTE = 60_000;
const ARMED = Date.parse('2026-03-01T03:00:00Z');
const LOST = ARMED + 15 * MINUTE + 1_000;
const IN_FLIGHT = 15 * MINUTE;
const KNOWN = { skewMs: 0, uncertaintyMs: 500 };
const iso = (ms: number) => new Date(ms).toISOString();

const look = <Row extends Task>(tasks: readonly Row[], more: Partial<Look<Row>> = {}): Look<Row> => ({
  baseline: { tasks: [], skew: KNOWN },
  armedAtMs: ARMED,
  nowMs: LOST + 1_000,
  inFlightMs: IN_FLIGHT,
  tasks,
  skew: KNOWN,
  beyond: 'none',
  ...more,
});

describe('an answer that is lost long after the request was sent', () => {
  test('is waited for from its loss, since what the router held may still arrive', () => {
    const at = (nowMs: number) => judgeBackup(look([], { nowMs, lostAtMs: LOST }));
    expect(at(LOST + 1_000)).toMatchObject({ verdict: 'wait', untilMs: LOST + IN_FLIGHT });
    expect(at(LOST + IN_FLIGHT - 1).verdict).toBe('wait');
    expect(at(LOST + IN_FLIGHT).verdict).toBe('absent');
  });

  test('is waited for from its loss if the request was for an action', () => {
    const judged = judgeAction({
      action: 'restart',
      baseline: { state: 'available', updatedAt: null, updates: null, skew: KNOWN },
      armedAtMs: ARMED,
      lostAtMs: LOST,
      nowMs: LOST + IN_FLIGHT - 1,
      inFlightMs: IN_FLIGHT,
      overview: { state: 'available' } as never,
      skew: KNOWN,
    });
    expect(judged.verdict).toBe('wait');
  });

  test('keeps a task from between the sending and the loss as a candidate', () => {
    const ours = Backup.parse({ id: 7, status: 'queued', triggered_at: iso(ARMED + 900) });
    expect(judgeBackup(look([ours], { lostAtMs: LOST }))).toMatchObject({
      verdict: 'landed',
      output: { id: 7 },
    });
  });
});

describe('when an answer was lost', () => {
  const entry = (type: string, at: number, body: object) => ({
    type,
    at: iso(at),
    body: { intent: 'I', ...body },
  });
  const armed = [entry('intent.prepared', ARMED - 1_000, { baseline: {} }), entry('intent.armed', ARMED, {})];
  const begun = (at: number) => entry('activity.begun', at, { intent: undefined, key: 'I' });
  const lostAt = (...more: object[]) => foldSends([...armed, ...more] as unknown as Entry[]).get('I')?.lostAt;

  test('comes from the entry that records it', () => {
    const failure = { code: 'service.error', shortMessage: '', hints: [], evidence: {} };
    const outcome = entry('intent.outcome', LOST, { sent: 'unknown', failure });
    expect(lostAt(outcome)).toBe(iso(LOST));
    expect(lostAt(outcome, begun(LOST + 9 * MINUTE))).toBe(iso(LOST));
  });

  test('is, if the process died before recording it, no later than when the next process took the run up', () => {
    expect(lostAt()).toBeUndefined();
    expect(lostAt(begun(ARMED + 14 * MINUTE), begun(ARMED + 20 * MINUTE))).toBe(iso(ARMED + 14 * MINUTE));
  });

  test('is taken as no later than the latest possible end of the send, for the wait', () => {
    const at = (nowMs: number) => judgeBackup(look([], { nowMs, lostAtMs: ARMED + 600 * MINUTE }));
    expect(at(ARMED + 600 * MINUTE).verdict).toBe('absent');
    const early = (nowMs: number) => judgeBackup(look([], { nowMs, lostAtMs: ARMED + 20 * MINUTE }));
    expect(early(ARMED + 20 * MINUTE).verdict).toBe('wait');
    expect(early(ARMED + 32 * MINUTE).verdict).toBe('absent');
  });
});

describe('a request that the service refused with 409', () => {
  const conflict = (evidence: object) => ({
    code: 'service.conflict',
    shortMessage: 'the same action is already in progress (409): "busy"',
    hints: [],
    evidence: { status: 409, ...evidence } as never,
  });
  const running = Restore.parse({ id: 104, backup_id: 9, status: 'running', triggered_at: iso(ARMED - 9e5) });
  const baseline = { tasks: [[104, ARMED - 9e5] as [number, number]], underWay: [104], skew: KNOWN };
  const judge = (lost: ReturnType<typeof conflict>, nowMs = ARMED + 1_000) =>
    judgeTask(look([running], { baseline, lost, nowMs }), restoreOfBackup(7));

  test('in its own words, while a restore was in progress, is asked about at once and names that restore', () => {
    expect(judge(conflict({ word: 'Conflict', text: 'busy' }))).toMatchObject({
      verdict: 'ambiguous',
      failure: {
        code: 'doubt.refused',
        shortMessage:
          'the service refused it: the same action is already in progress (409): "busy"; under way: restore 104, and the service shows no new restore',
        evidence: { underWay: [104] },
      },
    });
  });

  test('in the words of a proxy is waited for', () => {
    expect(judge(conflict({})).verdict).toBe('wait');
    expect(judge(conflict({ word: 'Bad Gateway' })).verdict).toBe('wait');
  });

  test('is absent with what was in progress in its evidence, once it can no longer arrive', () => {
    expect(judge(conflict({ word: 'Conflict' }), ARMED + IN_FLIGHT)).toMatchObject({
      verdict: 'absent',
      evidence: { underWay: [104] },
    });
  });
});

describe('a restore to a point in time that the service accepted without naming it', () => {
  const target = ARMED - 60 * MINUTE;
  const lost = { code: 'service.no-id', shortMessage: '', hints: [], evidence: {} };
  const own = [3, 2, 1].map((id) =>
    Backup.parse({ id, status: 'done', triggered_at: iso(ARMED - id * 50 * MINUTE) }),
  );
  const restore = (from?: number) =>
    Restore.parse({
      id: 9,
      status: 'done',
      triggered_at: iso(ARMED + 900),
      metadata: from === undefined ? {} : { restored_from: iso(from) },
    });
  const judge = (row: Restore, backups: readonly Backup[] = own) =>
    judgeTask(look([row], { lost, nowMs: ARMED + 2 * MINUTE }), restoreToInstant(iso(target), backups));

  test('is known by the newest of its backups that is not later than that time', () => {
    expect(judge(restore(ARMED - 100 * MINUTE))).toMatchObject({ verdict: 'landed', output: { id: 9 } });
    expect(judge(restore(ARMED - 50 * MINUTE)).verdict).toBe('ambiguous');
    expect(judge(restore(ARMED - 150 * MINUTE)).verdict).toBe('ambiguous');
    expect(judge(restore(ARMED - 100 * MINUTE), []).verdict).toBe('ambiguous');
  });

  test('is a question that does not say that an answer was lost, where no time is reported', () => {
    expect(judge(restore())).toMatchObject({
      failure: {
        shortMessage: expect.stringMatching(
          /^the service accepted it and named no restore, and restore 9 may be/u,
        ),
      },
    });
  });
});
