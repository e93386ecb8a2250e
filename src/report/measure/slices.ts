import type { Runbook, StateMeta, TimeSlice } from '../../../machines/parts/runbook.ts';
import { leavesOf, nodesAt } from '../../../machines/parts/states.ts';
import type { Landmarks } from './landmarks.ts';
import type { Timeline } from './timeline.ts';

export type Slices = Readonly<Record<TimeSlice, number>>;

/** The slices in the order of a recovery. */
export const SLICES: readonly TimeSlice[] = ['decide', 'queue', 'execute', 'human', 'rebind'];

/** A period that belongs to one slice. Milliseconds since 1970. */
export interface Segment {
  readonly slice: TimeSlice;
  readonly fromMs: number;
  readonly untilMs: number;
}

type Marks = Pick<Landmarks, 'decidedMs' | 'startedMs' | 'restoredMs'>;
type Span = { readonly fromMs: number; readonly untilMs: number };

/**
 * The time between two moments by slice, in milliseconds; each instant belongs to exactly one, so they add up
 * to the whole.
 */
export function cutSlices(
  timeline: Pick<Timeline, 'stays'>,
  marks: Marks,
  sliceOf: (state: string) => TimeSlice | undefined,
  span: Span,
): Slices {
  const slices: Record<TimeSlice, number> = { decide: 0, queue: 0, execute: 0, human: 0, rebind: 0 };
  for (const { slice, fromMs, untilMs } of cutSegments(timeline, marks, sliceOf, span)) {
    slices[slice] += untilMs - fromMs;
  }
  return slices;
}

/**
 * As `cutSlices`, in order of time. Until the destructive call is armed, everything is the decision. After
 * it, waiting for an answer is human time; the rest is the queue until the service began, work until the
 * instance was available, and rebinding from then on.
 */
export function cutSegments(
  { stays }: Pick<Timeline, 'stays'>,
  { decidedMs, startedMs, restoredMs }: Marks,
  sliceOf: (state: string) => TimeSlice | undefined,
  span: Span,
): Segment[] {
  const marks = [decidedMs, startedMs, restoredMs, ...stays.map(({ atMs }) => atMs)];
  const inside = marks.filter((ms) => ms !== undefined && ms > span.fromMs && ms < span.untilMs) as number[];
  const cuts = [...new Set([span.fromMs, ...inside, span.untilMs])].sort((a, b) => a - b);
  // Both are ordered by time, so each is traversed once.
  let passed = 0;
  return cuts
    .slice(0, -1)
    .map((fromMs, index) => ({ slice: at(fromMs), fromMs, untilMs: cuts[index + 1] ?? fromMs }));

  function at(ms: number): TimeSlice {
    if (decidedMs === undefined || ms < decidedMs) return 'decide';
    while ((stays[passed]?.atMs ?? Number.POSITIVE_INFINITY) <= ms) passed += 1;
    const state = stays[passed - 1]?.state;
    if (state !== undefined && sliceOf(state) === 'human') return 'human';
    if (restoredMs !== undefined && ms >= restoredMs) return 'rebind';
    return startedMs !== undefined && ms < startedMs ? 'queue' : 'execute';
  }
}

type Meta = Partial<StateMeta<unknown, never>> | undefined;

/**
 * Maps a state to its slice of a recovery's time, by the machine's metadata: a question is human time,
 * whatever else applies. Undefined for a runbook that recovers nothing.
 */
export function slicesOf(
  runbook: Pick<Runbook, 'machine'>,
): ((state: string) => TimeSlice | undefined) | undefined {
  const states = leavesOf(runbook.machine).map((state) => {
    const [phase, ...inner] = nodesAt(runbook.machine, state).map(({ meta }) => meta as Meta);
    const { question, slice = phase?.slice } = inner.at(-1) ?? phase ?? {};
    return [state, question === undefined ? slice : 'human'] as const;
  });
  const slices = new Map(states);
  if (!states.some(([, slice]) => slice === 'execute' || slice === 'queue')) return undefined;
  return (state) => slices.get(state);
}
