import type { Step } from '../../machines/parts/plan.ts';
import { type Answer, optionKey, type Question, STOP_EVENT } from '../../machines/parts/question.ts';
import { stillOpen } from '../../machines/parts/unfinished.ts';
import type { Trouble } from './conductor-port.ts';

/** The question of a child, and what is known against it. */
interface Asked {
  readonly question: Question | undefined;
  readonly asksAbout: Trouble | undefined;
  readonly warning: string | undefined;
  /** Whether a name was typed in it before. */
  readonly hasConfirmed: boolean;
}

/**
 * The answer that a plan gives to a question of a child; undefined where a person has to. It is the name that
 * was confirmed for the group, unless something is known against it; what a question recommends; the backup
 * that the step names; and the end of a step that a person passed, whose group was stopped, or whose failure
 * the plan passes. It decides nothing else: not what became of a call in doubt, and not whether a call that
 * never arrived is sent again. Pure.
 */
export function automaticAnswer(
  step: Step,
  { question, asksAbout, warning, hasConfirmed }: Asked,
  { isConfirmed, isRepeated, isStopped, passed, rehearsal }: Given,
): Answer | undefined {
  if (question === undefined || asksAbout === 'doubt') return undefined;
  if (isRepeated) return stopOf(question, 'it is tried again in a run of its own');
  if (passed !== undefined) return passedBy(step, question, passed);
  if (isStopped && step.kind !== 'runbook') return stopOf(question, 'its group was stopped');
  if (asksAbout === 'absence') return undefined;
  if (asksAbout === 'failure') {
    if (step.onFailure === 'pause' || question.kind === 'typed-name') return undefined;
    return stopOf(question, step.onFailure === 'continue' ? step.because : undefined);
  }
  if (step.kind !== 'runbook') return undefined;
  if (question.kind === 'typed-name') {
    // A run that asks again has found other facts, or has sent something that failed.
    const isOrder = question.event === 'operator.confirm' && warning === undefined && !hasConfirmed;
    return isOrder && isConfirmed && !isStopped
      ? { event: question.event, typed: question.expected }
      : undefined;
  }
  if (question.kind !== 'choice' && question.kind !== 'followUps') return undefined;
  const recommended = question.options.find(
    (option) => option.recommended === true && option.disabled === undefined,
  );
  if (recommended !== undefined && recommended.needs === undefined)
    return { event: optionKey(recommended.event) };
  if (question.kind === 'followUps' && rehearsal) return leftToTheEnd(question);
  const backups = question.options.filter(({ event }) => event.type === 'operator.chooseBackup');
  if (backups.length === 0 || isConfirmed === false) return undefined;
  const [newest] = backups;
  const proven = backups.find(({ isProven }) => isProven === true);
  const chosen = step.with.backup === 'newest' ? newest : proven;
  return chosen && { event: optionKey(chosen.event) };
}

/** What was decided for the group, the step and the plan. */
interface Given {
  readonly isConfirmed: boolean;
  /** Whether a person has the step tried again: a run of its own begins when this one has ended. */
  readonly isRepeated: boolean;
  /** Whether its group was stopped: a recovery can be resumed by itself then, and nothing else can. */
  readonly isStopped: boolean;
  readonly passed: Passed | undefined;
  readonly rehearsal: boolean;
}

/** How a person has passed the step. */
interface Passed {
  readonly how: 'skipped' | 'done-outside';
  readonly text: string;
}

/**
 * A step of the plan gets the words of the person. To pass a step of a runbook's own would let that go on, so
 * the runbook is ended.
 */
function passedBy(step: Step, question: Question, { how, text }: Passed): Answer | undefined {
  const event = how === 'skipped' ? 'operator.skip' : 'operator.markDone';
  const option = question.options.find((one) => one.event.type === event && one.disabled === undefined);
  if (step.kind !== 'runbook' && option !== undefined) return { event: optionKey(option.event), text };
  return stopOf(question, text);
}

/** The follow-up that only a rehearsal leaves: its target goes when the plan has ended. */
const REMOVE_TARGET = 'remove-target';

function leftToTheEnd({ followUps, skip }: Question & { kind: 'followUps' }): Answer | undefined {
  const [only, another] = stillOpen(followUps);
  if (only?.id !== REMOVE_TARGET || another !== undefined || skip === undefined) return undefined;
  return { event: skip, id: REMOVE_TARGET, text: 'it is removed after the end of the rehearsal' };
}

function stopOf(question: Question, why: string | undefined): Answer | undefined {
  if (!offersEnd(question)) return undefined;
  return { event: STOP_EVENT, ...(why === undefined ? {} : { text: why }) };
}

/** Whether a run can be ended by the answer to its question: one that has replaced data cannot. */
export function offersEnd({ options }: Pick<Question, 'options'>): boolean {
  return options.some(({ event, disabled }) => event.type === STOP_EVENT && disabled === undefined);
}
