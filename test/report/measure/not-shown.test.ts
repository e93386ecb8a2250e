import { describe, expect, test } from 'vitest';
import { measure, resultOfTime } from '../../../src/report/measure/measure.ts';
import {
  armed,
  at,
  closed,
  followUps,
  journalOf,
  leftOut,
  moved,
  objectives,
  performed,
  recoveryLines,
  sliceOf,
  started,
} from '../recovery.ts';

describe('a recovery is not over, whatever the clock says,', () => {
  test.each([
    [['rebind'], '1 application was not bound again'],
    [
      ['rebind', 'rebind', 'service-key'],
      '2 applications were not bound again, 1 service key was not recreated',
    ],
  ] as const)('where %j was skipped', (kinds, words) => {
    for (const end of [[], [closed(340, { proven: false })], [closed(340)]]) {
      const entries = journalOf(started({ objectives }), recoveryLines, end);
      const measures = measure(entries, { sliceOf, followUps: leftOut(...kinds) });
      expect(measures?.time).toMatchObject({ status: 'given-up', until: at(300), unbound: words });
      expect(measures?.time.notes).toContain(`${words}; the time does not include that`);
      expect(measures?.meetsRto).toBe(false);
      expect(measures?.point?.by).toBe('data');
    }
  });

  const outside = [moved(1, 'confirming'), moved(60, 'waitingForInstance')];
  const ready = performed([60, 70], 'waitForInstance', { state: 'available' }, 'countingAfter');
  const newest = { configured: true, newest: at(-40) };
  const before = performed([2, 3], 'reconcile', newest, 'confirming', { when: 'before' });
  const after = performed([71, 72], 'reconcile', newest, 'openFollowUps', { when: 'after' });
  const nothing = 'the service does not show that anything was restored in this run';
  test.each([
    ['nothing was sent and a person says that it was done', [...outside, ...ready], nothing],
    [
      'the call was refused and a person says that it was done',
      [armed(20, 'restoreBackup'), ...ready],
      nothing,
    ],
    [
      'the restore has failed',
      [
        armed(20, 'restoreBackup'),
        ...performed([30, 40], 'waitForRestore', { id: 4, status: 'failed' }, 'restoreBroken'),
        ...ready,
      ],
      nothing,
    ],
    [
      'only an earlier restore is done',
      [
        armed(5, 'restoreBackup', 'i0'),
        ...performed([5, 10], 'waitForRestore', { id: 3, status: 'done' }, 'restoreBroken'),
        armed(20, 'restoreBackup'),
        ...ready,
      ],
      nothing,
    ],
    [
      'the instance was not seen to come back',
      [
        armed(20, 'restoreBackup'),
        ...performed(
          [30, 40],
          'waitForRestore',
          { id: 4, status: 'done', finishedAt: at(35) },
          'openFollowUps',
        ),
      ],
      'the instance is not shown to be available',
    ],
    [
      'the restart is only reported as begun',
      [armed(20, 'restart'), ...ready],
      'the service does not show that anything was done in this run',
    ],
  ])('where %s', (_what, lines, unshown) => {
    const entries = journalOf(started({ objectives }), before, lines, after, closed(90));
    const measures = measure(entries, { sliceOf });
    expect(measures).toMatchObject({ unshown, meetsRto: undefined, meetsRpo: undefined, point: undefined });
  });

  test('where the run itself closed without proof', () => {
    const entries = journalOf(
      started({ objectives }),
      recoveryLines,
      closed(340, { proven: false, followUps: [] }),
    );
    expect(measure(entries, { sliceOf })).toMatchObject({
      unshown: 'the run was closed without proof',
      meetsRto: undefined,
    });
  });
});

test.each([
  ['sent once', [armed(10, 'restoreBackup')]],
  ['to be sent again', [armed(10, 'restoreBackup'), moved(60, 'confirming')]],
])(
  'a run stopped within the limit after a restore (%s) counts as given up, not as a missed limit',
  (_how, lines) => {
    const measures = measure(journalOf(started({ objectives }), lines, closed(90, { proven: false })), {
      sliceOf,
    });
    if (measures === undefined) throw new Error('nothing is measured');
    expect(measures.meetsRto).toBe(false);
    expect(resultOfTime(measures)).toEqual({
      result: 'given up',
      why: 'the service does not show that anything was restored in this run',
    });
  },
);

test('what was written after the end of a run does not change its measures', () => {
  const more = journalOf(
    started({ objectives }),
    recoveryLines,
    closed(340, { followUps: [...followUps] }),
    closed(400, { followUps: leftOut('rebind'), proven: false }),
  );
  expect(measure(more, { sliceOf })).toMatchObject({
    meetsRto: true,
    unshown: undefined,
    time: { until: at(300) },
  });
  const stopped = [started({ objectives }), armed(10, 'restoreBackup'), closed(90, { proven: false })];
  expect(measure(journalOf(stopped, closed(400)), { sliceOf })?.time).toMatchObject({
    status: 'given-up',
    until: at(90),
  });
});
