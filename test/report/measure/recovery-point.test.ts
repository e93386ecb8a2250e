import { describe, expect, test } from 'vitest';
import { measure, resultOfPoint } from '../../../src/report/measure/measure.ts';
import {
  armed,
  at,
  followUps,
  journalOf,
  performed,
  recovery,
  recoveryLines,
  replaced,
  sliceOf,
  started,
} from '../recovery.ts';

describe('the amount of lost data', () => {
  const point = (entries: Parameters<typeof measure>[0]) => measure(entries, { sliceOf, followUps })?.point;

  test('is measured by the data where it was counted before and after', () => {
    const measures = measure(recovery, { sliceOf });
    expect(measures?.point).toEqual({
      by: 'data',
      lostMs: 360_000,
      // The count was made 70 s before the restore was sent.
      mostLostMs: 500_000,
      lostAt: at(-40),
      recoveredTo: at(-400),
      lostBy: 'the newest record before',
      because: undefined,
      rowsBefore: 1000,
      rowsAfter: 940,
    });
    expect(measures?.meetsRpo).toBe(false);
  });

  test('counts from the incident where the source could no longer be asked', () => {
    const gone = { configured: true, at: at(30), failure: { code: 'x', shortMessage: 'gone' } };
    const lines = recoveryLines.map((line) => replaced(line, 'before', gone));
    const input = { instance: 'orders', incidentAt: at(-100) };
    expect(point(journalOf(started({ input }), lines))).toMatchObject({
      by: 'data',
      lostMs: 300_000,
      lostBy: 'the incident',
      rowsBefore: undefined,
    });
    // No time of the loss was given: by the service's word, with its clock corrected.
    expect(point(journalOf(started(), lines))).toMatchObject({
      by: 'restored_from',
      lostMs: 500_000,
      lostBy: 'the restore',
      recoveredTo: at(-400),
    });
  });

  test.each([
    ['whose end lay in the future of its service', { restoredFrom: at(-398), aheadSeconds: 18_000 }],
    ['from data that was written after its call', { restoredFrom: at(18_000 - 398) }],
  ])('is not measured by a restore %s, and meets no objective', (_what, facts) => {
    const done = { id: 4, status: 'done', finishedAt: at(18_020), ...facts };
    const entries = journalOf(
      started({ objectives: { rpoSeconds: 300 } }),
      armed(10, 'restoreBackup'),
      performed([10, 20], 'waitForRestore', done, 'waitingForInstance'),
      performed([20, 25], 'waitForInstance', { state: 'available' }, 'openFollowUps'),
    );
    const measures = measure(entries, { sliceOf, followUps });
    expect(measures).toMatchObject({ point: undefined, meetsRpo: undefined });
    expect(measures && resultOfPoint(measures)).toMatchObject({
      result: 'not decided',
      why: expect.stringContaining('its clock or its time zone is wrong'),
    });
  });

  test.each([
    ['met', 600, true, undefined],
    ['neither met nor missed', 450, undefined, /if it was written until then, 8 min 20 s were lost/u],
    ['missed', 300, false, undefined],
  ])(
    'with a count long before the restore, a limit is %s by what was seen and by what may have been lost',
    (_word, rpoSeconds, meets, why) => {
      const measures = measure(journalOf(started({ objectives: { rpoSeconds } }), recoveryLines), {
        sliceOf,
        followUps,
      });
      expect(measures?.meetsRpo).toBe(meets);
      const result = measures && resultOfPoint(measures);
      if (why === undefined) expect(result?.why).toBeUndefined();
      else expect(result?.why).toMatch(why);
    },
  );

  test('counted right before the restore is what the count says', () => {
    const late = { configured: true, at: at(98), newest: at(-40), count: 1000 };
    const lines = recoveryLines.map((line) => replaced(line, 'before', late));
    expect(point(journalOf(started(), lines))?.mostLostMs).toBeUndefined();
  });

  test('is never negative', () => {
    const idle = { configured: true, at: at(30), newest: at(-500), count: 940 };
    const lines = recoveryLines.map((line) => replaced(line, 'before', idle));
    expect(point(journalOf(started(), lines))).toMatchObject({
      by: 'data',
      lostMs: 0,
      recoveredTo: at(-400),
    });
  });

  test.each([
    ['since the restore', at(155), 'is newer than what was restored, so it was written since'],
    ['after what was restored', at(-390), 'is newer than what was restored, so it was written since'],
    ['long ahead', '2026-03-01 05:00:00+00', 'is newer than what was restored, so it was written since'],
  ])(
    'is not measured by a record that was written %s, but by what the service restored, with the reason',
    (_when, newest, why) => {
      const newer = { configured: true, at: at(160), newest, count: 1001 };
      const lines = recoveryLines.map((line) => replaced(line, 'after', newer));
      const found = point(journalOf(started(), lines));
      expect(found).toMatchObject({
        by: 'restored_from',
        lostMs: 500_000,
        lostAt: at(100),
        lostBy: 'the restore',
      });
      expect(found?.because).toContain(why);
    },
  );

  test('is not measured by a record that is newer than the call, where the service does not say what it restored', () => {
    const lines = (newest: string) =>
      journalOf(
        started({ input: { instance: 'orders', incidentAt: at(-5) } }),
        armed(10, 'restoreBackup'),
        performed([10, 15], 'waitForRestore', { id: 1, status: 'done' }, 'waitingForInstance'),
        performed([15, 20], 'waitForInstance', { state: 'available' }, 'countingAfter'),
        performed([20, 21], 'reconcile', { configured: true, newest }, 'openFollowUps', { when: 'after' }),
      );
    expect(point(lines(at(15)))).toBeUndefined();
    expect(point(lines(at(-65)))).toMatchObject({ by: 'data', lostMs: 60_000 });
  });

  test('of a source that was still being written to counts to its newest record', () => {
    const newer = { configured: true, at: at(3), newest: at(2) };
    const entries = journalOf(
      started(),
      performed([2, 3], 'reconcile', newer, 'confirming', { when: 'before' }),
      armed(10, 'performRecovery'),
      performed(
        [10, 15],
        'waitForRestore',
        { id: 1, status: 'done', restoredFrom: at(-70) },
        'waitingForInstance',
      ),
      performed([15, 20], 'waitForInstance', { state: 'available' }, 'countingAfter'),
    );
    expect(point(entries)).toMatchObject({ lostMs: 72_000, lostBy: 'the newest record before' });
  });

  test('is measured by the chosen time if the service says nothing, and not measured if nothing is known', () => {
    const lines = (input: object) => [
      armed(10, 'restoreToTime'),
      ...performed([10, 11], 'restoreToTime', { landed: true, id: 1 }, 'waitingForRestore', { ...input }),
      ...performed([11, 15], 'waitForRestore', { id: 1, status: 'done' }, 'waitingForInstance'),
      ...performed([15, 20], 'waitForInstance', { state: 'available' }, 'countingAfter'),
    ];
    expect(point(journalOf(started(), lines({ targetTime: at(-50) })))).toMatchObject({
      by: 'chosen-time',
      lostMs: 60_000,
    });
    expect(point(journalOf(started(), lines({})))).toBeUndefined();
  });

  test('of a lost source counts to the start of the run if no other time was given', () => {
    const entries = journalOf(
      started(),
      armed(10, 'performRecovery'),
      performed(
        [10, 15],
        'waitForRestore',
        { id: 1, status: 'done', restoredFrom: at(-70) },
        'waitingForInstance',
      ),
      performed([15, 20], 'waitForInstance', { state: 'available' }, 'countingAfter'),
    );
    expect(point(entries)).toMatchObject({ lostMs: 70_000, lostBy: 'the start of the run' });
  });

  test('is not measured before the instance is available', () => {
    expect(
      point(
        journalOf(
          started(),
          recoveryLines.filter((line) => line.at < 140),
        ),
      ),
    ).toBeUndefined();
  });
});
