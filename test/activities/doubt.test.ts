import { describe, expect, test } from 'vitest';
import { judgeBackup, judgeTask } from '../../src/activities/doubt.ts';
import type { Look, Task, Telling } from '../../src/activities/evaluate-tasks.ts';
import {
  recoveryFromElsewhere,
  restoreOfBackup,
  restoreToInstant,
} from '../../src/activities/restore-fits.ts';
import { Backup, Restore } from '../../src/service/schemas.ts';

const ARMED = Date.parse('2026-03-01T03:00:00Z');
const IN_FLIGHT = 60_000;
const TAKEN = { code: 'service.no-id', shortMessage: 'no id', hints: [], evidence: {} };

const backup = (id: number, triggeredAtMs?: number): Backup =>
  Backup.parse({
    id,
    status: 'queued',
    ...(triggeredAtMs === undefined ? {} : { triggered_at: new Date(triggeredAtMs).toISOString() }),
  });

/**
 * The service as it was listed before, what it lists now, and how far its clock is ahead: exactly known, or
 * not at all.
 */
const around = <Row extends Task>(
  tasks: readonly Row[],
  nowMs: number,
  before: readonly (readonly [id: number, atMs: number | null])[] = [],
  skewMs: number | null = 0,
): Look<Row> => ({
  baseline: {
    tasks: before.map(([id, atMs]) => [id, atMs]),
    skew: skewMs === null ? null : { skewMs, uncertaintyMs: 0 },
  },
  armedAtMs: ARMED,
  nowMs,
  inFlightMs: IN_FLIGHT,
  tasks,
  skew: undefined,
  // For what a list leaves out, see could-show.test.ts.
  beyond: 'none',
});

const look = (
  backups: readonly Backup[],
  nowMs: number,
  ids: readonly number[] = [],
  skewMs: number | null = 0,
) =>
  judgeBackup(
    around(
      backups,
      nowMs,
      ids.map((id) => [id, null]),
      skewMs,
    ),
  );

describe('a lost request for a backup', () => {
  test('has landed if exactly one new backup exists', () => {
    const judged = look([backup(1, ARMED - 9e6), backup(2, ARMED + 900)], ARMED + 2_000, [1]);
    expect(judged).toMatchObject({ verdict: 'landed', output: { landed: true, id: 2, adopted: true } });
  });

  test('has landed even if the list gives no times', () => {
    expect(look([backup(1), backup(2)], ARMED + 1, [1])).toMatchObject({
      verdict: 'landed',
      output: { id: 2 },
    });
  });

  test('is not explained by a backup that was there before', () => {
    expect(look([backup(1, ARMED + 900)], ARMED + IN_FLIGHT + 1, [1])).toMatchObject({ verdict: 'absent' });
  });

  test('is not explained by a backup from before others that were listed, even when the list before did not show it', () => {
    const before = [[3, ARMED - 30_000] as const];
    const rows = [backup(2, ARMED - 60_000), backup(3, ARMED - 30_000)];
    expect(judgeBackup(around(rows, ARMED + IN_FLIGHT + 1, before))).toMatchObject({ verdict: 'absent' });
  });

  test('is never called absent beside a new backup, however early that is stamped', () => {
    const old = backup(1, ARMED - 9e6);
    const late = backup(2, ARMED - 600_000);
    const judged = (nowMs: number) => judgeBackup(around([old, late], nowMs, [[1, ARMED - 9e6]]));
    expect(judged(ARMED + 1_000).verdict).toBe('wait');
    expect(judged(ARMED + IN_FLIGHT)).toMatchObject({
      verdict: 'ambiguous',
      failure: { evidence: { candidates: [{ id: 2, certainty: 'unlikely' }] } },
    });
  });

  test('is judged by the clock of the service', () => {
    const tenMinutes = 600_000;
    const behind = backup(2, ARMED - tenMinutes + 500);
    expect(look([behind], ARMED + 1_000, [], -tenMinutes)).toMatchObject({ verdict: 'landed' });
    expect(look([behind], ARMED + IN_FLIGHT + 1, [], 0)).toMatchObject({ verdict: 'ambiguous' });
  });

  test('is waited for until the in-flight window has passed, and only then absent', () => {
    expect(look([], ARMED + 1_000)).toMatchObject({ verdict: 'wait', untilMs: ARMED + IN_FLIGHT });
    expect(look([], ARMED + IN_FLIGHT - 1)).toMatchObject({ verdict: 'wait' });
    expect(look([], ARMED + IN_FLIGHT)).toMatchObject({ verdict: 'absent' });
  });

  test('is a question that names both if two backups are new', () => {
    const judged = look([backup(2, ARMED + 1), backup(3, ARMED + 2)], ARMED + 10);
    expect(judged).toMatchObject({
      verdict: 'ambiguous',
      failure: { code: 'doubt.ambiguous', evidence: { candidates: [{ id: 2 }, { id: 3 }] } },
    });
  });

  test('is found in any new backup if the clock of the service is unknown', () => {
    expect(look([backup(2, ARMED - 600_000)], ARMED + 1_000, [1], null)).toMatchObject({
      verdict: 'landed',
      output: { id: 2 },
    });
  });

  test("is judged within the measured precision of the service's clock", () => {
    const unsure = { ...around([backup(2, ARMED - 25_000)], ARMED + IN_FLIGHT) };
    const measured = (uncertaintyMs: number) =>
      judgeBackup({ ...unsure, baseline: { tasks: [], skew: { skewMs: 0, uncertaintyMs } } });
    expect(measured(500).verdict).toBe('ambiguous');
    expect(measured(30_000).verdict).toBe('landed');
  });

  test('is a question when a backup has the id of an older one', () => {
    const reused = judgeBackup(around([backup(1, ARMED + 900)], ARMED + 1_000, [[1, ARMED - 9e6]]));
    expect(reused).toMatchObject({
      verdict: 'ambiguous',
      failure: { evidence: { candidates: [{ id: 1, why: 'its id was listed before, with another time' }] } },
    });
    // With fewer digits in its time it is still the same backup.
    const same = judgeBackup(around([backup(1, ARMED - 9e6)], ARMED + IN_FLIGHT, [[1, ARMED - 9e6 + 750]]));
    expect(same.verdict).toBe('absent');
  });

  test('is a question when the list no longer shows what was the newest', () => {
    const before = [[1, ARMED - 9e6] as const, [2, ARMED - 8e6] as const];
    expect(judgeBackup(around([backup(1, ARMED - 9e6)], ARMED + IN_FLIGHT, before))).toMatchObject({
      verdict: 'ambiguous',
      failure: { code: 'doubt.list-changed' },
    });
    expect(judgeBackup(around([backup(2, ARMED - 8e6)], ARMED + IN_FLIGHT, before)).verdict).toBe('absent');
  });

  test('that was accepted without an id is looked for at most a minute, and is never absent', () => {
    const accepted = (nowMs: number) =>
      judgeBackup({ ...around([], nowMs), inFlightMs: 900_000, lost: TAKEN });
    expect(accepted(ARMED + 59_000).verdict).toBe('wait');
    const shortMessage = 'the service accepted it and named no backup, and its list shows no such backup';
    expect(accepted(ARMED + 60_000)).toMatchObject({
      verdict: 'ambiguous',
      failure: { code: 'doubt.not-listed', shortMessage },
    });
  });

  test('is found among ten thousand others', () => {
    const old = Array.from({ length: 10_000 }, (_, index) => backup(index + 1, ARMED - 9e8 + index));
    const before = old.map(({ id }, index) => [id, ARMED - 9e8 + index] as const);
    const judged = judgeBackup(around([...old, backup(10_001, ARMED + 1)], ARMED + 10, before));
    expect(judged).toMatchObject({ verdict: 'landed', output: { id: 10_001 } });
  });

  test('listed twice in one answer is one backup', () => {
    expect(look([backup(2, ARMED + 1), backup(2, ARMED + 1)], ARMED + 10).verdict).toBe('landed');
  });
});

describe('a lost request for a restore', () => {
  const restore = (id: number, rest: object, atMs: number | null = ARMED + 900) =>
    Restore.parse({
      id,
      status: 'running',
      ...(atMs === null ? {} : { triggered_at: new Date(atMs).toISOString() }),
      ...rest,
    });
  const judge = (telling: Telling<Restore>, rows: readonly Restore[], nowMs = ARMED + 2_000) =>
    judgeTask(around(rows, nowMs, [[1, ARMED - 9e6]]), telling);
  const old = restore(1, { backup_id: 7 }, ARMED - 9e6);
  const at = (ms: number) => ({ metadata: { restored_from: new Date(ms).toISOString() } });
  const why = (reason: string) => ({ failure: { evidence: { candidates: [{ why: reason }] } } });

  test('of a backup has landed with the one new restore of that backup', () => {
    const judged = judge(restoreOfBackup(7), [
      old,
      restore(2, { backup_id: 7 }),
      restore(3, { backup_id: 6 }),
    ]);
    expect(judged).toMatchObject({
      verdict: 'landed',
      output: { id: 2 },
      evidence: { others: [{ id: 3, why: 'it restores backup 6, not 7' }] },
    });
  });

  test('is not explained by a restore of another backup', () => {
    const rows = [old, restore(2, { backup_id: 6 })];
    expect(judge(restoreOfBackup(7), rows).verdict).toBe('wait');
    expect(judge(restoreOfBackup(7), rows, ARMED + IN_FLIGHT).verdict).toBe('absent');
  });

  test('is a question when two restores fit, and both are named', () => {
    const judged = judge(restoreOfBackup(7), [restore(2, { backup_id: 7 }), restore(3, { backup_id: 7 })]);
    expect(judged).toMatchObject({
      verdict: 'ambiguous',
      failure: { code: 'doubt.ambiguous', evidence: { candidates: [{ id: 2 }, { id: 3 }] } },
    });
  });

  test('waits while a deciding field may still come, and asks if it does not', () => {
    expect(judge(restoreOfBackup(7), [old, restore(2, {})]).verdict).toBe('wait');
    const ended = restore(2, { status: 'done' });
    expect(judge(restoreOfBackup(7), [old, ended])).toMatchObject({
      verdict: 'ambiguous',
      ...why('which backup it restores is not reported'),
    });
    expect(judge(restoreOfBackup(7), [old, restore(2, { backup_id: 7 }, null)]).verdict).toBe('wait');
  });

  test('is a question, not a guess, when the clock of the service is not known', () => {
    const rows = [restore(2, { backup_id: 7 })];
    expect(judgeTask(around(rows, ARMED + 1_000, [], null), restoreOfBackup(7))).toMatchObject({
      verdict: 'ambiguous',
      ...why('the clock of the service is not known, so its time says nothing'),
    });
  });

  test('is not called absent while a restore exists that matches in all but its time', () => {
    const early = [old, restore(2, { backup_id: 7 }, ARMED - 600_000)];
    expect(judge(restoreOfBackup(7), early).verdict).toBe('wait');
    expect(judge(restoreOfBackup(7), early, ARMED + IN_FLIGHT)).toMatchObject({
      verdict: 'ambiguous',
      ...why('it was triggered before the request, but not listed then'),
    });
  });

  describe('of another instance', () => {
    const own = [backup(4, ARMED - 7e6)];
    const known = { triggeredAt: new Date(ARMED - 5e6).toISOString() };
    const elsewhere = recoveryFromElsewhere(own, undefined, known);

    test('has landed with the new restore from the time of the chosen backup', () => {
      expect(judge(elsewhere, [old, restore(2, { backup_id: 9, ...at(ARMED - 5e6) })])).toMatchObject({
        output: { id: 2 },
      });
      expect(judge(elsewhere, [old, restore(2, { backup_id: 4, ...at(ARMED - 5e6) })])).toMatchObject({
        verdict: 'landed',
      });
    });

    test('is a question if nothing is known of the chosen backup, unless the service has accepted the request', () => {
      const rows = [old, restore(2, { backup_id: 9, ...at(ARMED - 5e6) })];
      const asked = judge(recoveryFromElsewhere(own, undefined), rows);
      expect(asked).toMatchObject({
        verdict: 'ambiguous',
        ...why(expect.stringContaining('not been reported')),
      });
      expect(judge(recoveryFromElsewhere(own, TAKEN), rows)).toMatchObject({ output: { id: 2 } });
    });

    test('is a question at once when the new restore looks like one of an own backup', () => {
      const same = recoveryFromElsewhere(own, undefined, {
        triggeredAt: new Date(ARMED - 7e6).toISOString(),
      });
      expect(judge(same, [old, restore(2, { backup_id: 4, ...at(ARMED - 7e6) })])).toMatchObject({
        verdict: 'ambiguous',
        ...why("it looks like a restore of the instance's own backup 4"),
      });
      expect(judge(same, [old, restore(2, at(ARMED - 7e6))]).verdict).toBe('ambiguous');
    });

    test('is a question if the service said that another request was first', () => {
      const lost = { code: 'service.conflict', shortMessage: '409', hints: [], evidence: {} };
      const judged = judge(recoveryFromElsewhere([], lost), [restore(2, { backup_id: 9 })]);
      expect(judged.verdict).toBe('ambiguous');
    });
  });

  describe('to a point in time', () => {
    const target = ARMED - 3_600_000;
    const toTime = restoreToInstant(new Date(target).toISOString());

    test('has landed with the one new restore from within a second of that time', () => {
      for (const ms of [target, target - 1_000, target + 1_000]) {
        expect(judge(toTime, [old, restore(2, at(ms))])).toMatchObject({
          verdict: 'landed',
          output: { id: 2 },
        });
      }
    });

    test('is distinguished from a restore to another time', () => {
      const other = restore(2, at(target - 60_000));
      expect(judge(toTime, [old, other, restore(3, at(target))])).toMatchObject({ output: { id: 3 } });
      expect(judge(toTime, [old, other]).verdict).toBe('wait');
      expect(judge(toTime, [old, other], ARMED + IN_FLIGHT)).toMatchObject({
        verdict: 'ambiguous',
        ...why('it restores to a time other than the one asked for'),
      });
    });
  });
});
