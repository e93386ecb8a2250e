import type { Step } from '../../machines/parts/plan.ts';
import { type Answer, optionKey, type Question, STOP_EVENT } from '../../machines/parts/question.ts';
import { stillOpen } from '../../machines/parts/unfinished.ts';
import type { Trouble } from './conductor-port.ts';

interface Asked {
  readonly question: Question | undefined;
  readonly asksAbout: Trouble | undefined;
  readonly warning: string | undefined;
  /** A name was typed in it before. */
  readonly hasConfirmed: boolean;
}

/**
 * Undefined if a person has to answer. A plan answers with the name that was confirmed for the group, unless
 * something is known against it; with a recommended answer; with the backup that the step names; and with the
 * end of a step that a person passed, whose group was stopped, or whose failure the plan passes. It does not
 * decide the outcome of a call in doubt, or a second send of a call that never arrived. Pure.
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
  if (question.kind === 'followUps' && rehearsal) return keptAfterRehearsal(question);
  const backups = question.options.filter(({ event }) => event.type === 'operator.chooseBackup');
  if (backups.length === 0 || isConfirmed === false) return undefined;
  const [newest] = backups;
  const proven = backups.find(({ isProven }) => isProven === true);
  const chosen = step.with.backup === 'newest' ? newest : proven;
  return chosen && { event: optionKey(chosen.event) };
}

/** For the group, the step and the plan. */
interface Given {
  readonly isConfirmed: boolean;
  /** A person wants another attempt: a run of its own begins when this one has ended. */
  readonly isRepeated: boolean;
  /** Of a stopped group, only a recovery can be resumed by itself. */
  readonly isStopped: boolean;
  readonly passed: Passed | undefined;
  readonly rehearsal: boolean;
}

interface Passed {
  readonly how: 'skipped' | 'done-outside';
  readonly text: string;
}

/**
 * A step of the plan gets the person's words. Passing a step inside a runbook would let the runbook go on, so
 * the runbook is ended.
 */
function passedBy(step: Step, question: Question, { how, text }: Passed): Answer | undefined {
  const event = how === 'skipped' ? 'operator.skip' : 'operator.markDone';
  const option = question.options.find((one) => one.event.type === event && one.disabled === undefined);
  if (step.kind !== 'runbook' && option !== undefined) return { event: optionKey(option.event), text };
  return stopOf(question, text);
}

/** A rehearsal does not wait for it: its target is a scratch instance, and what holds it may keep it. */
const REMOVE_TARGET = 'remove-target';

const KEPT = 'the plan does not remove it: the scratch instance stays, with the restored data';

function keptAfterRehearsal({ followUps, skip }: Question & { kind: 'followUps' }): Answer | undefined {
  const [only, another] = stillOpen(followUps);
  if (only?.id !== REMOVE_TARGET || another !== undefined || skip === undefined) return undefined;
  return { event: skip, id: REMOVE_TARGET, text: KEPT };
}

function stopOf(question: Question, why: string | undefined): Answer | undefined {
  if (!offersEnd(question)) return undefined;
  return { event: STOP_EVENT, ...(why === undefined ? {} : { text: why }) };
}

/** A run that has replaced data cannot be ended by an answer. */
export function offersEnd({ options }: Pick<Question, 'options'>): boolean {
  return options.some(({ event, disabled }) => event.type === STOP_EVENT && disabled === undefined);
}
