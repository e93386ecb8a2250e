import type { FollowUp } from '../../../machines/parts/follow-up.ts';
import type { TimeSlice } from '../../../machines/parts/runbook.ts';
import { leftUnbound, unboundWords } from '../../../machines/parts/unfinished.ts';
import { effectOf } from '../../../machines/verbs.ts';
import { isoOf } from '../../base/date.ts';
import { counted, formatSeconds } from '../../base/format.ts';
import { instantOf } from '../../base/instant.ts';
import { type Entry, fieldsOf } from '../../store/journal.ts';
import { type RecoveryPoint, recoveryPoint } from './recovery-point.ts';
import { cutSlices, type Landmarks, landmarksOf, type Slices } from './slices.ts';
import { type Timeline, timelineOf } from './timeline.ts';

export interface MeasureOptions {
  /** See `slicesOf`. Called only with names of states. */
  readonly sliceOf: (state: string) => TimeSlice | undefined;
  /** Default: the run's own objectives. */
  readonly objectives?: Objectives | undefined;
  /** The follow-ups of the run. Default: those in its last entry, if it is closed. */
  readonly followUps?: readonly Pick<FollowUp, 'id' | 'kind' | 'subject' | 'closed'>[] | undefined;
  /** The end of the measurement of an open run; by default its last entry. */
  readonly now?: Date | undefined;
}

export interface Objectives {
  readonly rtoSeconds?: number | undefined;
  readonly rpoSeconds?: number | undefined;
}

/** The time and data that a recovery cost, compared with its objectives. */
export interface Measures {
  readonly objectives: Objectives;
  readonly time: RecoveryTime;
  readonly point: RecoveryPoint | undefined;
  /** Why there is no recovery point although the service reports times. */
  readonly pointUnshown: string | undefined;
  /** Why this measures no recovery, as a sentence without a full stop: evidence of the service is missing. */
  readonly unshown: string | undefined;
  /** Whether data was to be restored; a restart has no recovery point. */
  readonly restores: boolean;
  /** Undefined without an objective or a measurement, if it is not shown, or if it is undecided. */
  readonly meetsRto: boolean | undefined;
  readonly meetsRpo: boolean | undefined;
}

/**
 * Measures a recovery from its entries alone, so that an auditor can repeat it. Pure. Undefined for a run
 * that recovers nothing, such as a preparation, or that ended before it changed anything.
 */
export function measure(entries: readonly Entry[], options: MeasureOptions): Measures | undefined {
  const timeline = timelineOf(entries);
  const { started, closed } = timeline ?? {};
  if (timeline === undefined || started === undefined) return undefined;
  const { mode, incidentAt, single } = fieldsOf(started.input);
  if (mode === 'prepare' || leavesTheRest(single)) return undefined;
  const landmarks = landmarksOf(timeline, options.sliceOf);
  if (landmarks.decidedMs === undefined && timeline.endedMs !== undefined) return undefined;
  const incident = typeof incidentAt === 'string' ? incidentAt : undefined;
  const time = recoveryTime(timeline, landmarks, {
    sliceOf: options.sliceOf,
    followUps: options.followUps ?? (closed?.followUps as MeasureOptions['followUps']),
    incidentAt: incident,
    nowMs: options.now?.getTime() ?? timeline.lastMs,
  });
  const found = recoveryPoint(timeline, landmarks, incident);
  const point = found === undefined || 'unshown' in found ? undefined : found;
  const unshown = landmarks.unshown ?? unproven(timeline, time);
  const objectives = options.objectives ?? started.objectives ?? {};
  return {
    objectives,
    time,
    point,
    pointUnshown:
      found !== undefined && 'unshown' in found ? found.unshown : unseenWords(point, objectives.rpoSeconds),
    unshown,
    restores: landmarks.restores,
    meetsRto: meetsRto(time, objectives.rtoSeconds, unshown),
    meetsRpo: meetsRpo(point, objectives.rpoSeconds),
  };
}

/** A single command that asks for a change, and leaves the work after it to others. */
function leavesTheRest(single: unknown): boolean {
  if (single === undefined) return false;
  const { change, wait, noFollowUps } = fieldsOf(single);
  const isAction = effectOf(String(change)) === 'instance';
  return noFollowUps !== undefined || (isAction && wait !== true);
}

function unproven({ closed }: Timeline, { unbound }: RecoveryTime): string | undefined {
  const isWithout = unbound === undefined && closed?.proven === false;
  return isWithout ? 'the run was closed without proof' : undefined;
}

/** An exceeded limit stays exceeded; it is met only if the recovery is over and shown. */
function meetsRto(
  { totalMs, status }: RecoveryTime,
  limitSeconds: number | undefined,
  unshown: string | undefined,
): boolean | undefined {
  const isWithin = fits(totalMs, limitSeconds);
  if (isWithin !== true) return isWithin;
  if (status === 'given-up') return false;
  return status === 'over' && unshown === undefined ? true : undefined;
}

/** The observed loss decides that it is missed; only the maximum possible loss, that it is met. */
function meetsRpo(point: RecoveryPoint | undefined, limitSeconds: number | undefined): boolean | undefined {
  const least = fits(point?.lostMs, limitSeconds);
  return least === true && fits(point?.mostLostMs ?? point?.lostMs, limitSeconds) === false
    ? undefined
    : least;
}

/** Why a limit is neither met nor missed, although the data was counted. */
function unseenWords(point: RecoveryPoint | undefined, limitSeconds: number | undefined): string | undefined {
  const { lostMs, mostLostMs } = point ?? {};
  if (mostLostMs === undefined || fits(lostMs, limitSeconds) !== true) return undefined;
  if (fits(mostLostMs, limitSeconds) === true) return undefined;
  return `the data was counted before the restore was sent: if it was written until then, ${formatSeconds(mostLostMs / 1000)} were lost`;
}

function fits(ms: number | undefined, limitSeconds: number | undefined): boolean | undefined {
  return ms === undefined || limitSeconds === undefined ? undefined : ms <= limitSeconds * 1000;
}

/** `why`: the reason if it is undecided or given up, as a sentence without a full stop. */
export interface Result {
  readonly result: 'met' | 'missed' | 'given up' | 'not decided';
  readonly why: string | undefined;
}

/**
 * It is given up if applications were left without the data, or the run was stopped: the time measures no
 * recovery. An exceeded limit is missed nevertheless.
 */
export function resultOfTime(measures: Measures): Result {
  const { objectives, time, meetsRto, unshown } = measures;
  const isPassed = objectives.rtoSeconds !== undefined && time.totalMs > objectives.rtoSeconds * 1000;
  if (time.status === 'given-up' && time.unbound !== undefined)
    return { result: isPassed ? 'missed' : 'given up', why: time.unbound };
  if (time.status === 'given-up' && meetsRto === false && !isPassed)
    return { result: 'given up', why: unshown };
  return resultOf(measures, meetsRto);
}

export function resultOfPoint(measures: Measures): Result {
  const { pointUnshown, meetsRpo } = measures;
  // Nothing more will be shown.
  if (pointUnshown !== undefined) return { result: 'not decided', why: pointUnshown };
  return resultOf(measures, meetsRpo);
}

/** A running recovery may still be shown. */
function resultOf({ time, unshown }: Measures, isMet: boolean | undefined): Result {
  if (isMet !== undefined) return { result: isMet ? 'met' : 'missed', why: undefined };
  return { result: 'not decided', why: time.status === 'running' ? undefined : unshown };
}

/** How long a recovery took so far. Milliseconds; moments in RFC 3339 by this machine's clock. */
interface RecoveryTime {
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
  /** For readers of the figures, as sentences without a full stop. */
  readonly notes: readonly string[];
}

interface RecoveryTimeOptions {
  readonly sliceOf: (state: string) => TimeSlice | undefined;
  /** The follow-ups of the run; undefined if unknown. */
  readonly followUps: readonly Pick<FollowUp, 'id' | 'kind' | 'subject' | 'closed'>[] | undefined;
  readonly incidentAt: string | undefined;
  readonly nowMs: number;
}

/**
 * From the incident (or the start of the run, if unknown) until the last application runs on the restored
 * data; without applications, until the instance is available. If one was skipped, it is never over.
 */
function recoveryTime(timeline: Timeline, landmarks: Landmarks, options: RecoveryTimeOptions): RecoveryTime {
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
  // Starting the work from here is also an answer about it, before its steps.
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
