import type { Measures } from './measure.ts';

/** What became of an objective; `why` nothing else can be said, as a sentence without a stop. */
export interface Result {
  readonly result: 'met' | 'missed' | 'given up' | 'not decided';
  readonly why: string | undefined;
}

/**
 * What became of the recovery time objective. What was left without the data is given up: whatever time it
 * took, nobody recovered in it. A limit that was passed is missed all the same.
 */
export function resultOfTime(measures: Measures): Result {
  const { objectives, time, meetsRto } = measures;
  const isPassed = objectives.rtoSeconds !== undefined && time.totalMs > objectives.rtoSeconds * 1000;
  if (time.unbound !== undefined && time.status === 'given-up')
    return { result: isPassed ? 'missed' : 'given up', why: time.unbound };
  return resultOf(measures, meetsRto);
}

/** What became of the recovery point objective. */
export function resultOfPoint(measures: Measures): Result {
  return resultOf(measures, measures.meetsRpo);
}

/** What still runs may yet be shown. */
function resultOf({ time, unshown }: Measures, isMet: boolean | undefined): Result {
  if (isMet !== undefined) return { result: isMet ? 'met' : 'missed', why: undefined };
  return { result: 'not decided', why: time.status === 'running' ? undefined : unshown };
}
