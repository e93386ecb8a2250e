import type { FollowUp } from '../../../machines/parts/follow-up.ts';
import type { TimeSlice } from '../../../machines/parts/runbook.ts';
import { leftUnbound, unboundWords } from '../../../machines/parts/unfinished.ts';
import { isoOf } from '../../base/date.ts';
import { counted } from '../../base/format.ts';
import { instantOf } from '../../base/instant.ts';
import { fieldsOf } from '../../store/journal.ts';
import type { Landmarks } from './landmarks.ts';
import { cutSlices, type Slices } from './slices.ts';
import type { Timeline } from './timeline.ts';

/**
 * How long a recovery took, or has taken so far. Milliseconds; moments in RFC 3339 by this machine's clock.
 */
export interface RecoveryTime {
  /** `given-up`: it was not over when the run ended, or when applications were left without the data. */
  readonly status: 'running' | 'over' | 'given-up';
  /** What was left without the data, as a sentence without a full stop; undefined if nothing. */
  readonly unbound: string | undefined;
  readonly since: 'incident' | 'run';
  readonly from: string;
  readonly until: string;
  readonly totalMs: number;
  /** They add up to the total. */
  readonly slicesMs: Slices;
  /** Notes for readers of the figures, as sentences without a full stop. */
  readonly notes: readonly string[];
}

export interface RecoveryTimeOptions {
  readonly sliceOf: (state: string) => TimeSlice | undefined;
  /** The follow-ups of the run; undefined if unknown. */
  readonly followUps: readonly Pick<FollowUp, 'id' | 'kind' | 'subject' | 'closed'>[] | undefined;
  readonly incidentAt: string | undefined;
  readonly nowMs: number;
}

/**
 * The time from the incident (or from the start of the run, if unknown) until the last application ran again
 * on the restored data; without applications, until the instance was available. If one of them was skipped,
 * it is never over.
 */
export function recoveryTime(
  timeline: Timeline,
  landmarks: Landmarks,
  options: RecoveryTimeOptions,
): RecoveryTime {
  const incident = instantOf(options.incidentAt);
  const believed = incident !== undefined && incident <= timeline.firstMs;
  const fromMs = believed ? incident : timeline.firstMs;
  const end = endOf(timeline, landmarks, options);
  const untilMs = Math.max(fromMs, end.atMs);
  const unbound = leftUnbound(options.followUps ?? []);
  return {
    status: end.status,
    unbound: unbound.length === 0 ? undefined : unboundWords(unbound),
    since: believed ? 'incident' : 'run',
    from: isoOf(fromMs),
    until: isoOf(untilMs),
    totalMs: untilMs - fromMs,
    slicesMs: cutSlices(timeline, landmarks, options.sliceOf, { fromMs, untilMs }),
    notes: notesOn(timeline, landmarks, options, believed),
  };
}

interface End {
  readonly status: RecoveryTime['status'];
  readonly atMs: number;
}

function endOf(timeline: Timeline, landmarks: Landmarks, options: RecoveryTimeOptions): End {
  const { restoredMs, restores, listed } = landmarks;
  const { endedMs } = timeline;
  const nowMs = Math.max(timeline.lastMs, options.nowMs - timeline.clockMovedMs);
  const notYet: End =
    endedMs === undefined ? { status: 'running', atMs: nowMs } : { status: 'given-up', atMs: endedMs };
  if (restoredMs === undefined) return notYet;
  const rebinds = options.followUps?.filter(({ kind }) => kind === 'rebind') ?? [];
  if (rebinds.some(({ closed }) => closed === undefined)) return notYet;
  // The follow-ups are known only after the run has looked for the applications.
  const known = options.followUps !== undefined && (options.followUps.length > 0 || listed);
  if (restores && !known && endedMs === undefined) return notYet;
  const done = rebinds.filter(({ closed }) => closed?.how !== 'skipped');
  const last = Math.max(restoredMs, ...done.map((rebind) => closedAt(rebind, timeline)));
  const isLeft = leftUnbound(options.followUps ?? []).length > 0;
  return { status: isLeft ? 'given-up' : 'over', atMs: Math.min(last, endedMs ?? nowMs) };
}

/** By the platform's record or the operator's statement; otherwise when the run learned of it. */
function closedAt(
  { id, subject, closed }: Pick<FollowUp, 'id' | 'subject' | 'closed'>,
  { mentions, performed, endedMs, lastMs }: Timeline,
): number {
  // A verb with an application as input is a step of its follow-up.
  const step = performed.findLast(({ input }) => fieldsOf(input['app'])['key'] === subject);
  const mention = mentions.findLast((one) => one.id === id);
  // Starting the work from here is also an answer about it, and comes before the steps.
  const heard = closed?.how === 'hand' ? mention?.atMs : (step?.endedMs ?? mention?.atMs);
  return instantOf(closed?.at) ?? heard ?? endedMs ?? lastMs;
}

/** A follow-up that the platform was asked about later has evidence. */
function isBySomebodysWord({ kind, closed }: Pick<FollowUp, 'kind' | 'closed'>): boolean {
  return kind === 'rebind' && closed?.how === 'hand' && Object.keys(closed.evidence ?? {}).length === 0;
}

function notesOn(
  timeline: Timeline,
  { startedMs, restore, skewMs }: Landmarks,
  { followUps, incidentAt }: RecoveryTimeOptions,
  believed: boolean,
): string[] {
  const unbound = leftUnbound(followUps ?? []);
  const apps = followUps?.filter(isBySomebodysWord).length ?? 0;
  return [
    ...(believed
      ? []
      : incidentAt === undefined
        ? ['it counts from the start of the run, because nobody said when the incident began']
        : ['it counts from the start of the run, because the time given for the incident is not before it']),
    ...(restore !== undefined && startedMs === undefined
      ? ['the service does not say when it began to work, so the queue counts as execute']
      : []),
    ...(skewMs === 0 ? [] : [`times of the service are corrected by ${skewMs / -1000} s`]),
    ...(unbound.length === 0 ? [] : [`${unboundWords(unbound)}; the time does not include that`]),
    ...(apps === 0
      ? []
      : [`${counted(apps, 'application was', 'applications were')} bound again by hand, on somebody's word`]),
    ...timeline.clockMovesMs.map(
      (ms) =>
        `the clock of this machine was moved ${Math.abs(ms) / 1000} s ` +
        `${ms < 0 ? 'back' : 'ahead'} during the run; the figures leave that out`,
    ),
    ...(timeline.clockSetBack ? ['the clock of this machine was set back during the run'] : []),
  ];
}
