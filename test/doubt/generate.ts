import fc from 'fast-check';
import { HOUR_MS, IN_FLIGHT_MS } from './kinds.ts';

/*
 * What may have happened around a lost request: what was there before, what colleagues and schedules trigger
 * in between, when and whether our own request arrives, clocks that differ and are set, lists that lag, are
 * long and forget, and all the ways in which a service reports less than it could.
 */

/** Ten thousand rows, in a share that keeps the rest quick. */
const padding = fc.oneof(
  { weight: 499, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constant(10_000) },
);

const habits = fc.record({
  skewMs: fc.oneof(fc.constant(0), fc.integer({ min: -600_000, max: 600_000 })),
  tellsDate: often(9, true, false),
  /** The clock that stamps tasks against the one of the answers: the Backup Manager is not the router. */
  stampMs: fc.oneof(
    { weight: 4, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: -600_000, max: 600_000 }) },
  ),
  stamps: fc.constantFrom('milliseconds', 'seconds', 'zoneless', 'offset'),
  leavesOut: fc.oneof(
    { weight: 8, arbitrary: fc.constant('nothing') },
    { weight: 2, arbitrary: fc.constantFrom('triggered_at', 'backup_id', 'restored_from') },
  ),
  thereMs: fc.integer({ min: 0, max: 2_000 }),
  backMs: fc.integer({ min: 0, max: 2_000 }),
  lagMs: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 5_000 }) },
  ),
  padding,
  isV0: often(5, false, true),
});

export const history = fc.record({
  habits,
  before: fc.array(
    fc.record({
      agoMs: fc.integer({ min: 8_000, max: 90 * HOUR_MS }),
      backup: fc.integer({ min: 1, max: 3 }),
    }),
    { maxLength: 8 },
  ),
  gaps: fc.oneof(
    fc.constant(Array.from({ length: 13 }, () => 1)),
    fc.array(fc.integer({ min: 5, max: 40 }), { minLength: 13, maxLength: 13 }),
  ),
  /** The list shows the newest tasks only, or the oldest; with the rows of before it may be full by then. */
  cap: seldom(
    4,
    fc.record({
      shows: fc.constantFrom('newest' as const, 'oldest' as const),
      rows: fc.integer({ min: 1, max: 10 }),
    }),
  ),
  runsMs: fc.integer({ min: 0, max: 40_000 }),
  /** Never none: what is sent at the moment of the baseline would be in it. */
  sealingMs: fc.integer({ min: 1, max: 20_000 }),
  /** How long the answer is waited for before it is lost, as by a router that gives up after minutes. */
  flightMs: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 16 * 60_000 }) },
  ),
  /**
   * The process dies while it waits for the answer: that it was lost then is not written down, only that
   * another takes it up.
   */
  diesInFlight: often(4, false, true),
  /** Whether what arrives late is counted from the loss, not from the arming. */
  arrivesAfterLoss: fc.boolean(),
  /**
   * After the arming or the loss; without it the request is lost for good. The list shows it before the
   * in-flight window has passed.
   */
  arrivesMs: fc.option(
    fc.oneof(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 0, max: IN_FLIGHT_MS - 5_000 })),
    { freq: 2 },
  ),
  /** By the time after the baseline was read off. A schedule is a colleague that never sleeps. */
  colleagues: fc.oneof(
    fc.constant<{ afterMs: number; same: boolean; which: number }[]>([]),
    fc.array(
      fc.record({
        afterMs: fc.integer({ min: 1, max: 50_000 }),
        same: fc.boolean(),
        which: fc.integer({ min: 0, max: 2 }),
      }),
      { maxLength: 3 },
    ),
  ),
  /** Another request at the very moment when ours is on its way. */
  together: seldom(2, fc.record({ byMs: fc.integer({ min: -500, max: 500 }), same: fc.boolean() })),
  accepted: often(3, false, true),
  /** Ids begin again at 1 after the baseline. */
  reusesIds: often(9, false, true),
  /** What is older than so long is deleted while it is waited for. Milliseconds. */
  forgets: seldom(
    5,
    fc.record({
      afterArmMs: fc.integer({ min: 0, max: 30_000 }),
      keepsMs: fc.integer({ min: 60_000, max: 99 * HOUR_MS }),
    }),
  ),
  /** The list falls back to an older day: its newest row of before is gone, and so is everything after it. */
  rollsBackAfterArmMs: seldom(12, fc.integer({ min: 0, max: 20_000 })),
  /** Our clock is set, before the arming or at some time after it. */
  step: fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    {
      weight: 1,
      arbitrary: fc.record({
        byMs: fc.oneof(
          fc.integer({ min: -600_000, max: -20_000 }),
          fc.integer({ min: 20_000, max: 600_000 }),
        ),
        afterArmMs: fc.oneof(fc.constant(-1), fc.integer({ min: 1, max: 15_000 })),
      }),
    },
  ),
});
export type History = typeof history extends fc.Arbitrary<infer T> ? T : never;

/**
 * Whether a history can be decided. It cannot if the service gives neither times nor fresh ids, if its clock
 * is set and its answers carry no date, or if a list that leaves tasks out loses others besides.
 */
export function isTellable(one: History): boolean {
  const { reusesIds, step, cap, forgets, rollsBackAfterArmMs } = one;
  const { leavesOut, tellsDate } = one.habits;
  if (cap !== null && (reusesIds || forgets !== null || rollsBackAfterArmMs !== null)) return false;
  return !(reusesIds && leavesOut === 'triggered_at') && (step === undefined || tellsDate);
}

function often<T>(weight: number, usual: T, rare: T): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constant(rare) });
}

/** Mostly null; something once in this many. */
function seldom<T>(times: number, rare: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof({ weight: times - 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: rare });
}
