import type { Measures } from '../measure/measure.ts';
import type { Measured } from './model.ts';

/** What the recovery took and lost, against what it was allowed to; how each was measured. */
export function measuredOf(measures: Measures): Measured {
  const { objectives: limits, time, point, restores, meetsRpo } = measures;
  const { decide, queue, execute, human, rebind } = time.slicesMs;
  return {
    status: time.status,
    since: time.since,
    from: time.from,
    until: time.until,
    rto: {
      limitSeconds: limits.rtoSeconds,
      measuredSeconds: time.totalMs / 1000,
      ...recoveryTimeResult(measures),
    },
    rpo: {
      limitSeconds: limits.rpoSeconds,
      measuredSeconds: point === undefined ? undefined : point.lostMs / 1000,
      ...(restores ? { result: result(meetsRpo), why: whyUndecided(measures, meetsRpo) } : NO_POINT),
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

/**
 * What was left without the data is given up: whatever time it took, nobody recovered in it. A limit that was
 * passed is missed all the same.
 */
function recoveryTimeResult(measures: Measures): Pick<Measured['rto'], 'result' | 'why'> {
  const { objectives, time, meetsRto } = measures;
  const isPassed = objectives.rtoSeconds !== undefined && time.totalMs > objectives.rtoSeconds * 1000;
  if (time.unbound !== undefined && time.status === 'given-up')
    return { result: isPassed ? 'missed' : 'given up', why: time.unbound };
  return { result: result(meetsRto), why: whyUndecided(measures, meetsRto) };
}

/** What still runs may yet be shown. */
function whyUndecided({ time, unshown }: Measures, isMet: boolean | undefined): string | undefined {
  return isMet === undefined && time.status !== 'running' ? unshown : undefined;
}

function result(isMet: boolean | undefined): Measured['rto']['result'] {
  return isMet === undefined ? 'not decided' : isMet ? 'met' : 'missed';
}
