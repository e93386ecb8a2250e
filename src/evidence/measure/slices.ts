import type { TimeSlice } from '../../../machines/parts/runbook.ts';
import type { Landmarks } from './landmarks.ts';
import type { Timeline } from './timeline.ts';

export type Slices = Readonly<Record<TimeSlice, number>>;

/** The slices in the order in which a recovery passes them. */
export const SLICES: readonly TimeSlice[] = ['decide', 'queue', 'execute', 'human', 'rebind'];

/**
 * Cuts the time between two moments into slices, in milliseconds; each instant belongs to exactly one, so they add up to the whole. Until the
 * destructive call is armed everything is the decision. After it, waiting for an answer is human time; all else is the queue until the
 * service began, work until the instance was available, and from then on rebinding.
 */
export function cutSlices(
  { stays }: Pick<Timeline, 'stays'>,
  { decidedMs, startedMs, restoredMs }: Pick<Landmarks, 'decidedMs' | 'startedMs' | 'restoredMs'>,
  sliceOf: (state: string) => TimeSlice | undefined,
  span: { readonly fromMs: number; readonly untilMs: number },
): Slices {
  const marks = [decidedMs, startedMs, restoredMs, ...stays.map(({ atMs }) => atMs)];
  const inside = marks.filter((ms) => ms !== undefined && ms > span.fromMs && ms < span.untilMs) as number[];
  const cuts = [...new Set([span.fromMs, ...inside, span.untilMs])].sort((a, b) => a - b);
  const slices: Record<TimeSlice, number> = { decide: 0, queue: 0, execute: 0, human: 0, rebind: 0 };
  for (const [index, from] of cuts.slice(0, -1).entries()) {
    slices[at(from)] += (cuts[index + 1] ?? from) - from;
  }
  return slices;

  function at(ms: number): TimeSlice {
    if (decidedMs === undefined || ms < decidedMs) return 'decide';
    const state = stays.findLast(({ atMs }) => atMs <= ms)?.state;
    if (state !== undefined && sliceOf(state) === 'human') return 'human';
    if (restoredMs !== undefined && ms >= restoredMs) return 'rebind';
    return startedMs !== undefined && ms < startedMs ? 'queue' : 'execute';
  }
}
