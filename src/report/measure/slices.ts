import type { Runbook, StateMeta, TimeSlice } from '../../../machines/parts/runbook.ts';
import { leavesOf, nodesAt } from '../../../machines/parts/states.ts';
import { effectOf } from '../../../machines/verbs.ts';
import { instantOf } from '../../base/instant.ts';
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

/** Milliseconds by slice; each instant belongs to exactly one, so they add up to the whole span. */
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
 * As `cutSlices`, in order of time. Until the destructive call is armed, everything is `decide`. After it,
 * waiting for an answer is `human`; the rest is `queue` until the service begins, `execute` until the
 * instance is available, and `rebind` from then on.
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
 * The slice of a state, by the machine's metadata: a question is human time, whatever else applies. Undefined
 * for a runbook that recovers nothing.
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

/** The moments that measure a recovery. Milliseconds since 1970, by this machine's clock. */
export interface Landmarks {
  /** When a destructive call was first armed; without one, when the work after it began (done outside). */
  readonly decidedMs: number | undefined;
  /** When the last destructive call was armed: nothing before it recovered anything. */
  readonly armedMs: number | undefined;
  /** When the service began to work on it. Undefined if that was not observed. */
  readonly startedMs: number | undefined;
  /** When the instance was available with its data. */
  readonly restoredMs: number | undefined;
  readonly restores: boolean;
  /** Whether it went into another instance, whose source may have been gone before. */
  readonly elsewhere: boolean;
  /** Whether the applications were listed after that. */
  readonly listed: boolean;
  /** The service's final report of the restore. */
  readonly restore: Readonly<Record<string, unknown>> | undefined;
  readonly chosenTime: string | undefined;
  /** How far the service's clock was ahead. */
  readonly skewMs: number;
  /** As a sentence without a full stop: only the service's report can show it. Undefined if it is shown. */
  readonly unshown: string | undefined;
}

export function landmarksOf(
  timeline: Timeline,
  sliceOf: (state: string) => TimeSlice | undefined,
): Landmarks {
  const { performed, stays } = timeline;
  const arms = timeline.armed.filter(({ verb }) => decides(verb));
  const outside = stays.find(({ state }) => sliceOf(state) === 'rebind')?.atMs;
  const armedMs = arms.at(-1)?.atMs;
  const after = armedMs ?? outside ?? Number.POSITIVE_INFINITY;
  const later = performed.filter(({ endedMs }) => endedMs >= after);
  const skewMs = skewOf(timeline);
  const restore = later.findLast(({ verb }) => verb === 'waitForRestore')?.output;
  const finished = isAhead(restore) ? undefined : instantOf(restore?.['finishedAt']);
  const byService = finished === undefined ? undefined : Math.max(after, finished - skewMs);
  const ready = later.find(({ verb }) => verb === 'waitForInstance')?.endedMs;
  const rebinding = stays.find(({ state, atMs }) => atMs >= after && sliceOf(state) === 'rebind')?.atMs;
  const restoredMs = ready ?? byService ?? rebinding;
  const asked = performed.findLast(({ verb }) => verb === 'restoreToTime')?.input['targetTime'];
  return {
    decidedMs: arms[0]?.atMs ?? outside,
    armedMs,
    startedMs: startOf(restore, skewMs),
    restoredMs,
    restores: restores(arms.at(-1)?.verb),
    elsewhere: arms.at(-1)?.verb === 'performRecovery',
    listed: later.some(({ verb, endedMs }) => verb === 'findBound' && endedMs >= (restoredMs ?? after)),
    restore,
    chosenTime: typeof asked === 'string' ? asked : undefined,
    skewMs,
    unshown: unshownOf(arms.at(-1)?.verb, later),
  };
}

/** A verb that restores data, or changes the instance without that. The first of them ends the decision. */
function decides(verb: string): boolean {
  const effect = effectOf(verb);
  return effect === 'restore' || effect === 'instance';
}

/** Work done outside counts as a restore. */
function restores(verb: string | undefined): boolean {
  return verb === undefined || effectOf(verb) === 'restore';
}

/** An available instance proves no restore: the service must report the task, and after it the instance. */
function unshownOf(verb: string | undefined, later: Timeline['performed']): string | undefined {
  const isRestore = restores(verb);
  const isDone = isRestore
    ? later.findLast((one) => one.verb === 'waitForRestore')?.output['status'] === 'done'
    : later.some((one) => one.verb === verb && one.output['landed'] === true);
  if (verb === undefined || !isDone)
    return `the service does not show that anything was ${isRestore ? 'restored' : 'done'} in this run`;
  const isReady = later.some((one) => one.verb === 'waitForInstance');
  return isReady ? undefined : 'the instance is not shown to be available';
}

/** Whether the service's times are impossible: they were in the future of its own clock. */
export function isAhead(restore: Landmarks['restore']): boolean {
  return typeof restore?.['aheadSeconds'] === 'number';
}

/** By the service's report, or by what the run saw while it waited. */
function startOf(restore: Readonly<Record<string, unknown>> | undefined, skewMs: number): number | undefined {
  const reported = isAhead(restore) ? undefined : instantOf(restore?.['startedAt']);
  return reported === undefined ? instantOf(restore?.['seenRunningAt']) : reported - skewMs;
}

/** As last measured at the instance that the recovery changes. */
function skewOf({ performed }: Timeline): number {
  const measured = performed.findLast(
    ({ verb, output }) =>
      ['inspectTarget', 'preflight'].includes(verb) && typeof output['clockSkewSeconds'] === 'number',
  );
  return Number(measured?.output['clockSkewSeconds'] ?? 0) * 1000;
}
