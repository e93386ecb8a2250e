import type { Measures } from '../measure/measure.ts';
import { resultOfPoint, resultOfTime } from '../measure/results.ts';
import type { Measured } from './model.ts';

/** What the recovery took and lost, against what it was allowed to; how each was measured. */
export function measuredOf(measures: Measures): Measured {
  const { objectives: limits, time, point, restores } = measures;
  const { decide, queue, execute, human, rebind } = time.slicesMs;
  return {
    status: time.status,
    since: time.since,
    from: time.from,
    until: time.until,
    rto: {
      limitSeconds: limits.rtoSeconds,
      measuredSeconds: time.totalMs / 1000,
      ...resultOfTime(measures),
    },
    rpo: {
      limitSeconds: limits.rpoSeconds,
      measuredSeconds: point === undefined ? undefined : point.lostMs / 1000,
      ...(restores ? resultOfPoint(measures) : NO_POINT),
    },
    slices: {
      decide: decide / 1000,
      queue: queue / 1000,
      execute: execute / 1000,
      human: human / 1000,
      rebind: rebind / 1000,
    },
    notes: [...time.notes],
    restores,
    point:
      point === undefined
        ? undefined
        : {
            by: point.by,
            recoveredTo: point.recoveredTo,
            lostAt: point.lostAt,
            lostBy: point.lostBy,
            because: point.because,
          },
  };
}

const NO_POINT = { result: 'does not apply' as const };
