import type { Step } from '../../machines/parts/plan.ts';
import type { GroupData, GroupState } from '../../machines/parts/plan-events.ts';
import type { Answer } from '../../machines/parts/question.ts';
import type { PlanContext } from '../../machines/plan.ts';
import { formatSeconds } from '../base/format.ts';
import { msOf } from '../base/instant.ts';
import { automaticAnswer, offersEnd } from './automatic-answer.ts';
import type { ChildSnapshot, ConductorPort, RecordedChild, ShownChild } from './conductor-port.ts';
import type { ChildState, Start } from './schedule.ts';

/* A child's state, by what this process sees of it, or by the record alone. Pure. */

/** By the plan of a child. */
interface Decided extends Pick<ConductorPort, 'differences'> {
  readonly context: PlanContext;
  /** The child's group was stopped, or stops. */
  readonly isStopped: boolean;
}

/** Of a stopped group, nothing waits for a person any more. */
export function isStopped(data: GroupData | undefined, state: GroupState | undefined): boolean {
  return state === 'stopping' || data?.ended === 'stopped';
}

/** Undefined if a person has to answer. */
export function answerOfPlan(
  start: Start,
  step: Step,
  state: ChildSnapshot,
  { context, isStopped, differences }: Decided,
): Answer | undefined {
  if (state.question === undefined || state.paused !== undefined) return undefined;
  const seen = context.lanes.find(({ group, lane }) => group === start.group && lane === start.lane)?.seen;
  const isSame =
    seen === undefined || state.targetNow === undefined
      ? state.targetNow === undefined
      : differences(seen, state.targetNow).length === 0;
  const place = `${start.lane}/${start.step}`;
  const { passed = {}, attempts = {} } = context.groups[start.group] ?? {};
  return automaticAnswer(step, state, {
    isConfirmed: context.confirmed.includes(start.group) && isSame,
    isRepeated: start.attempt < (attempts[place] ?? 1),
    isStopped,
    rehearsal: context.input.rehearsal,
    passed: passed[place],
  });
}

/**
 * Why the plan leaves a child that asks a person, so that it can be resumed by itself; undefined if the plan
 * waits for the answer. A step that was passed, or whose failure the plan passes, is ended if its run allows:
 * one that has replaced data offers no end. Pure.
 */
export function whyLeft(
  { group, lane }: Pick<Start, 'group' | 'lane'>,
  step: Step,
  { question, asksAbout, paused }: Pick<ChildSnapshot, 'question' | 'asksAbout' | 'paused'>,
  { context: { groups }, isStopped }: Pick<Decided, 'context' | 'isStopped'>,
): string | undefined {
  const { out = {}, passed = {} } = groups[group] ?? {};
  if (Object.hasOwn(out, lane)) return 'its instance was taken out of the plan';
  if (isStopped) return 'its group was stopped';
  if (question === undefined || paused !== undefined) return undefined;
  if (Object.hasOwn(passed, `${lane}/${step.id}`)) return 'its step was passed, and it still asks a person';
  const isPassed = step.onFailure === 'continue' && asksAbout === 'failure' && question.kind !== 'typed-name';
  return isPassed && !offersEnd(question)
    ? 'the plan goes on without it, and it still asks a person'
    : undefined;
}

/** Why an attempt counts, and what a person can do about it. */
export interface Obstacle {
  readonly why: string;
  readonly way?: string;
}

/**
 * Against another attempt: the run before it asks something that only its own answer resolves. Undefined if
 * that run can be ended. Pure.
 */
export function obstacleToAnother(
  runId: string,
  asked: Pick<ChildSnapshot, 'question' | 'asksAbout'> | undefined,
): Obstacle | undefined {
  const { question, asksAbout } = asked ?? {};
  if (question === undefined || (asksAbout !== 'doubt' && offersEnd(question))) return undefined;
  const cause = asksAbout === 'doubt' ? 'what became of its call is not known' : 'it offers no end';
  return { why: `run ${runId} has to be answered, ${cause}`, way: `to answer: lifeboat resume ${runId}` };
}

/** For an open child. `isAutomatic`: the plan answers its question; `isOut`: its instance was taken out. */
export function standingOf(
  step: Step,
  startedMs: number,
  { question, where, sinceMs, asksAbout, paused }: ChildSnapshot,
  {
    isAutomatic,
    isOut,
    nowMs,
  }: { readonly isAutomatic: boolean; readonly isOut: boolean; readonly nowMs: number },
): Pick<
  ShownChild,
  'state' | 'isLate' | 'where' | 'sinceMs' | 'question' | 'problem' | 'isPaused' | 'isInDoubt'
> {
  const is = stateOf({ question, asksAbout, paused }, isAutomatic);
  const isLate = is === 'at-work' && nowMs >= lateMs(step, startedMs);
  return {
    // It can still turn out well: it holds back what a failure holds back, but takes no slot.
    state: isLate ? 'failing' : is,
    isLate,
    where: isOut && is === 'at-work' ? whereOfOut(where) : where,
    sinceMs,
    question,
    problem: isLate ? lateWords(step) : paused?.shortMessage,
    isPaused: paused !== undefined,
    isInDoubt: asksAbout === 'doubt',
  };
}

function stateOf(
  { question, asksAbout, paused }: Pick<ChildSnapshot, 'question' | 'asksAbout' | 'paused'>,
  isAutomatic: boolean,
): ChildState {
  if (paused !== undefined) return 'waiting';
  if (question === undefined || isAutomatic) return 'at-work';
  return asksAbout === undefined || asksAbout === 'absence' ? 'waiting' : 'failing';
}

/** For a runbook with a timeout; a check ends by itself. */
export function lateMs(step: Step, startedMs: number): number {
  return step.kind === 'runbook' && step.timeout !== undefined
    ? startedMs + step.timeout
    : Number.POSITIVE_INFINITY;
}

/** What was sent cannot be taken back: the plan waits for it, also on an instance that was taken out. */
export function whereOfOut(where: string | undefined): string {
  return `taken out, and the plan waits until this has ended: ${where ?? 'just begun'}`;
}

export function isTakenOut({ groups }: PlanContext, { group, lane }: Pick<Start, 'group' | 'lane'>): boolean {
  return Object.hasOwn(groups[group]?.out ?? {}, lane);
}

function lateWords({ timeout = 0 }: Step): string {
  return `it has taken longer than ${formatSeconds(timeout / 1000)} and is still under way`;
}

/** Waits for a person; a child that is only late does not. */
export function isAsking({ state, isLate = false }: Pick<ShownChild, 'state' | 'isLate'>): boolean {
  return !isLate && (state === 'waiting' || state === 'failing');
}

/** Goes on by itself, in its time or late. */
export function isUnderWay({ state, isLate = false, isLeft, problem }: ShownChild): boolean {
  return isLate || (state === 'at-work' && problem === undefined && !isLeft);
}

/** By the journal. */
export function endedOnRecord(child: RecordedChild, result: 'done' | 'failed'): ShownChild {
  const { startedAt, endedAt, where } = child;
  const endedMs = endedAt === undefined ? undefined : msOf(endedAt);
  return endedChild({ ...child, startedMs: msOf(startedAt), endedMs, where, result });
}

type Ended = Start &
  Pick<ShownChild, 'runId' | 'startedMs' | 'endedMs' | 'where'> & {
    readonly result: 'done' | 'failed';
    readonly cause?: string | undefined;
  };

export function endedChild(child: Ended): ShownChild {
  const { group, step, lane, attempt, runId, startedMs, endedMs, where, result, cause } = child;
  return {
    ...{ group, step, lane, attempt, runId, startedMs, endedMs, where },
    state: result,
    sinceMs: endedMs,
    question: undefined,
    isAnswered: false,
    problem: cause,
    isPaused: false,
    isInDoubt: false,
    isLeft: false,
  };
}
