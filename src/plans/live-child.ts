import type { GivenAnswers } from '../../machines/parts/given-answers.ts';
import type { Step } from '../../machines/parts/plan.ts';
import type { Failure } from '../base/failure.ts';
import type { DrivenChild, ShownChild } from './conductor-port.ts';
import type { Start } from './schedule.ts';
import { standingOf } from './standing.ts';

/** Not ended, in the process that conducts its plan. */
export interface Live {
  readonly start: Start;
  readonly step: Step;
  readonly driven: DrivenChild | undefined;
  /** Why it could not be begun, or taken up. */
  readonly problem: Failure | undefined;
  /** It could not be taken up, and is at work by the record. */
  readonly holdsSlot: boolean;
  /** The next attempt, or the next look after it was left. */
  againMs: number;
  readonly given: GivenAnswers;
  isAnswering: boolean;
  /** The plan has left it: another process may go on with it. */
  isLeft: boolean;
  shown?: ShownChild;
}

/** `isAutomatic`: the plan answers its question. Pure. */
export function shownLive(
  { start, step, driven, problem, holdsSlot, isLeft }: Live,
  at: {
    readonly isAutomatic: boolean;
    readonly isAnswered: boolean;
    readonly isOut: boolean;
    readonly nowMs: number;
  },
): ShownChild {
  const shown = {
    ...start,
    runId: driven?.runId,
    startedMs: driven?.startedMs,
    sinceMs: undefined,
    isAnswered: false,
    isPaused: false,
    isInDoubt: false,
    isLeft,
    holdsSlot,
    question: undefined,
    where: undefined,
    problem: undefined,
  };
  if (driven !== undefined) {
    const standing = standingOf(step, driven.startedMs, driven.state(), at);
    return { ...shown, ...standing, isAnswered: at.isAnswered };
  }
  // Another process has it, perhaps one that has died: its hold then ends, and it is taken up here.
  const isElsewhere = holdsSlot && problem?.code === 'journal.held';
  if (isElsewhere) return { ...shown, state: 'at-work', where: problem.shortMessage };
  return { ...shown, state: 'failing', problem: problem?.shortMessage };
}
