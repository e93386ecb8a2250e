import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TimeSlice } from '../../../machines/parts/runbook.ts';
import { measure } from '../../../src/report/measure/measure.ts';
import { SLICES } from '../../../src/report/measure/slices.ts';
import { runEntry } from '../../../src/store/run-entries.ts';
import {
  abandoned,
  armed,
  at,
  closed,
  followUps,
  journalOf,
  type Line,
  moved,
  objectives,
  performed,
  recovery,
  recoveryLines,
  sliceOf,
  started,
} from '../recovery.ts';

function seconds(slices: Readonly<Record<TimeSlice, number>> | undefined) {
  return SLICES.map((slice) => (slices?.[slice] ?? Number.NaN) / 1000);
}

test('a recovery is measured in slices, until the last application runs', () => {
  const { time, meetsRto } = measure(recovery, { sliceOf }) ?? {};
  expect(time).toMatchObject({ status: 'over', since: 'run', from: at(0), until: at(300), totalMs: 300_000 });
  // Decided at 100; in the queue to 110; at work to 150; asked from 170 to 200 and from 255 to 300; the rest
  // is rebinding.
  expect(seconds(time?.slicesMs)).toEqual([100, 10, 40, 75, 75]);
  expect(meetsRto).toBe(true);
  expect(time?.notes).toEqual([
    'it counts from the start of the run, because nobody said when the incident began',
    'times of the service are corrected by -2 s',
    "1 application was bound again by hand, on somebody's word",
  ]);
});

test('it counts from the stated time of the incident, unless that is in the future', () => {
  const said = (incidentAt: string) => {
    const head = started({ input: { instance: 'orders', incidentAt }, objectives: { rtoSeconds: 600 } });
    return measure(journalOf(head, recoveryLines), { sliceOf, followUps });
  };
  const early = said(at(-400));
  expect(early?.time).toMatchObject({ since: 'incident', from: at(-400), totalMs: 700_000 });
  expect(seconds(early?.time.slicesMs)[0]).toBe(500);
  expect(early?.meetsRto).toBe(false);
  for (const strange of [at(5), 'last night']) {
    const late = said(strange);
    expect(late?.time).toMatchObject({ since: 'run', totalMs: 300_000 });
    expect(late?.time.notes[0]).toContain('the time given for the incident is not before it');
  }
});

test('if the service does not say when it began, what the run saw counts; otherwise queue and work are one slice', () => {
  const waited = (seen: object) =>
    journalOf(
      started(),
      armed(10, 'restoreBackup'),
      performed([10, 40], 'waitForRestore', { id: 4, status: 'done', ...seen }, 'waitingForInstance'),
      performed([40, 50], 'waitForInstance', { state: 'available' }, 'countingAfter'),
    );
  const saw = measure(waited({ seenRunningAt: at(25) }), { sliceOf });
  expect(seconds(saw?.time.slicesMs)).toEqual([10, 15, 25, 0, 0]);
  const blind = measure(waited({}), { sliceOf });
  expect(seconds(blind?.time.slicesMs)).toEqual([10, 0, 40, 0, 0]);
  expect(blind?.time.notes).toContain(
    'the service does not say when it began to work, so the queue counts as execute',
  );
});

describe('the clock of a recovery', () => {
  const now = new Date(at(500));

  test('runs while nothing has been decided, and all of it counts as the decision', () => {
    const { time, meetsRto } =
      measure(journalOf(started({ objectives }), recoveryLines.slice(0, 6)), { sliceOf, now }) ?? {};
    expect(time).toMatchObject({ status: 'running', totalMs: 500_000 });
    expect(seconds(time?.slicesMs)).toEqual([500, 0, 0, 0, 0]);
    expect(meetsRto).toBeUndefined();
  });

  test('runs while the follow-up of an application is open, and a missed limit stays missed', () => {
    const open = followUps.map((one) => (one.id === 'rebind-billing' ? { ...one, closed: undefined } : one));
    const entries = journalOf(started({ objectives }), recoveryLines.slice(0, -2));
    const soon = measure(entries, { sliceOf, now, followUps: open });
    expect(soon?.time).toMatchObject({ status: 'running', totalMs: 500_000 });
    expect(soon?.meetsRto).toBeUndefined();
    const later = measure(entries, { sliceOf, now: new Date(at(601)), followUps: open });
    expect(later?.meetsRto).toBe(false);
  });

  test('runs until the applications were looked for, even if the instance is available', () => {
    const available = recoveryLines.filter((line) => line.at <= 160);
    const before = measure(journalOf(started(), available), { sliceOf, now, followUps: [] });
    expect(before?.time.status).toBe('running');
    const found = recoveryLines.filter((line) => line.at <= 170);
    const none = measure(journalOf(started(), found), { sliceOf, now, followUps: [] });
    expect(none?.time).toMatchObject({ status: 'over', until: at(150) });
  });

  test('stops with the last application that is not skipped, not with the fresh backup', () => {
    const open = measure(journalOf(started(), recoveryLines), { sliceOf, now, followUps });
    expect(open?.time).toMatchObject({ status: 'over', until: at(300) });
    const skipped = followUps.filter(({ id }) => id !== 'rebind-billing');
    expect(
      measure(journalOf(started(), recoveryLines), { sliceOf, now, followUps: skipped })?.time.until,
    ).toBe(at(250));
  });

  test('stops at the end of the last step for the application where the platform gave no time', () => {
    const steps = performed([200, 255], 'restageApp', { outcome: 'done' }, 'openFollowUps', {
      app: { key: 'orders-api' },
    });
    const lines = [...recoveryLines.filter((line) => line.at <= 200), ...steps, moved(400, 'takingFresh')];
    const closed = { how: 'platform' as const, text: 'restaged', evidence: {} };
    const one = followUps
      .filter(({ id }) => id === 'rebind-orders-api')
      .map((followUp) => ({ ...followUp, closed }));
    expect(measure(journalOf(started(), lines), { sliceOf, now, followUps: one })?.time.until).toBe(at(255));
  });

  test('ends without success when the run is abandoned', () => {
    const entries = journalOf(
      started({ objectives }),
      recoveryLines.slice(0, 12),
      abandoned(400, 'a newer machine'),
    );
    const { time, meetsRto } = measure(entries, { sliceOf, now }) ?? {};
    expect(time).toMatchObject({ status: 'given-up', until: at(400) });
    expect(meetsRto).toBe(false);
  });

  test('counts a second restore only from when it was sent, and the first as work', () => {
    const { time } =
      measure(
        journalOf(
          started(),
          armed(10, 'restoreBackup'),
          performed([10, 20], 'waitForInstance', { state: 'available' }, 'restoreInDoubt'),
          moved(50, 'restoring'),
          armed(50, 'restoreBackup', 'i2'),
          performed([50, 80], 'waitForInstance', { state: 'available' }, 'countingAfter'),
          closed(90),
        ),
        { sliceOf },
      ) ?? {};
    expect(time?.totalMs).toBe(80_000);
    expect(seconds(time?.slicesMs)).toEqual([10, 0, 40, 30, 0]);
  });

  test('uses the end of the restore, by our clock, where the wait for the instance was skipped', () => {
    const entries = journalOf(
      started(),
      performed([1, 2], 'preflight', { clockSkewSeconds: 5 }, 'confirming'),
      armed(10, 'restoreBackup'),
      performed([10, 40], 'waitForRestore', { id: 4, finishedAt: at(35) }, 'countingAfter'),
      closed(90),
    );
    expect(measure(entries, { sliceOf })?.time.until).toBe(at(30));
  });

  test('stops with the next step where the operator did the restore outside', () => {
    const entries = journalOf(started(), moved(1, 'confirming'), moved(60, 'countingAfter'), closed(90));
    expect(measure(entries, { sliceOf })?.time).toMatchObject({ status: 'over', until: at(60) });
  });
});

test('a run that recovers nothing is not measured', () => {
  expect(measure([], { sliceOf })).toBeUndefined();
  expect(measure(journalOf(moved(1, 'checking')), { sliceOf })).toBeUndefined();
  expect(
    measure(journalOf(started({ input: { mode: 'prepare' } }), moved(1, 'checking')), { sliceOf }),
  ).toBeUndefined();
  expect(measure(journalOf(started(), moved(1, 'confirming'), closed(9)), { sliceOf })).toBeUndefined();
});

test.each([
  [{ change: 'restoreBackup', wait: true, noFollowUps: 'a script' }, false],
  [{ change: 'restart', wait: false }, false],
  [{ change: 'restart', wait: true }, true],
  [{ change: 'restoreBackup', wait: false }, true],
])('a single command is measured only if its run leads to the end of what it began: %j', (single, is) => {
  const entries = journalOf(started({ input: { single } }), moved(1, 'confirming'), moved(2, 'restoring'));
  expect(measure(entries, { sliceOf }) !== undefined).toBe(is);
});

const anyLine: fc.Arbitrary<Line[]> = fc
  .record({
    from: fc.integer({ min: -50, max: 1000 }),
    lasts: fc.nat(300),
    state: fc.constantFrom(
      'choosing',
      'restoring',
      'waitingForRestore',
      'countingAfter',
      'openFollowUps',
      'unknown',
    ),
    verb: fc.constantFrom('preflight', 'waitForRestore', 'waitForInstance', 'findBound', 'restageApp'),
    output: fc.record(
      {
        startedAt: fc.integer({ min: -900, max: 2000 }).map(at),
        finishedAt: fc.oneof(fc.integer({ min: -900, max: 2000 }).map(at), fc.constant('soon')),
        clockSkewSeconds: fc.integer({ min: -500, max: 500 }),
      },
      { requiredKeys: [] },
    ),
    kind: fc.constantFrom('moved', 'armed', 'performed', 'closed'),
  })
  .map(({ from, lasts, state, verb, output, kind }) => {
    if (kind === 'armed') return [armed(from, 'restoreBackup')];
    if (kind === 'closed') return [closed(from)];
    return kind === 'moved' ? [moved(from, state)] : performed([from, from + lasts], verb, output, state);
  });

const anyFollowUps = fc.option(
  fc.array(
    fc.record({
      id: fc.string(),
      subject: fc.string(),
      kind: fc.constantFrom('rebind' as const, 'fresh-backup' as const),
      closed: fc.option(
        fc.record({
          how: fc.constantFrom('hand' as const, 'platform' as const, 'skipped' as const),
          text: fc.string(),
          at: fc.integer({ min: -900, max: 2000 }).map(at),
          evidence: fc.constant({}),
        }),
        { nil: undefined },
      ),
    }),
    { maxLength: 3 },
  ),
  { nil: undefined },
);

test('whatever a journal says, the slices add up to the whole and none is negative', () => {
  const incidents = fc.option(fc.integer({ min: -5000, max: 2000 }).map(at), { nil: undefined });
  fc.assert(
    fc.property(
      fc.array(anyLine, { maxLength: 15 }),
      incidents,
      anyFollowUps,
      fc.nat(3000),
      (lines, incidentAt, given, now) => {
        const input = incidentAt === undefined ? {} : { incidentAt };
        const entries = journalOf(started({ input }), lines.flat());
        const options = { sliceOf, followUps: given, now: new Date(at(now)) };
        const time = measure(entries, options)?.time;
        if (time === undefined) return;
        const slices = Object.values(time.slicesMs);
        expect(slices.reduce((sum, ms) => sum + ms, 0)).toBe(time.totalMs);
        expect(slices.every((ms) => ms >= 0)).toBe(true);
        expect(Date.parse(time.until) - Date.parse(time.from)).toBe(time.totalMs);
      },
    ),
    { numRuns: 500 },
  );
});

test.each([3600, -3600])(
  'a clock change of %i seconds that the run saw makes nothing longer or shorter, and has a note',
  (by) => {
    const lines = recovery.map(
      (entry): Line => ({ at: (Date.parse(entry.at) - Date.parse(at(0))) / 1000, entry }),
    );
    const half = lines.findIndex((line) => line.at >= 130);
    const note: Line = { at: 130 + by, entry: runEntry('01R', 'clock.moved', { seconds: by }) };
    const later = lines.slice(half).map((line): Line => ({ ...line, at: line.at + by }));
    const { time, meetsRto } = measure(journalOf(lines.slice(0, half), note, later), { sliceOf }) ?? {};
    expect(time).toMatchObject({ status: 'over', from: at(0), until: at(300), totalMs: 300_000 });
    expect(seconds(time?.slicesMs)).toEqual([100, 10, 40, 75, 75]);
    expect(meetsRto).toBe(true);
    const way = by < 0 ? 'back' : 'ahead';
    expect(time?.notes).toContain(
      `the clock of this machine was moved 3600 s ${way} during the run; the figures leave that out`,
    );
  },
);
