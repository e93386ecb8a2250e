import type { Failure } from '../../src/base/failure.ts';
import type { Question, QuestionOption } from './question.ts';

/**
 * Whether a way out of a failure is open: a prompt or hint when it is, `{disabled}` with the reason when not.
 */
export type WayOut = string | { readonly disabled: string };

export interface FailureWays {
  /** What happens when the step is tried again. */
  readonly retry: string;
  /** What is lost when the step is skipped. */
  readonly skip: WayOut;
  /** What the operator has to give as evidence. */
  readonly markDone: WayOut;
  /** Offered unless disabled here: a run with an open follow-up is left, not stopped. */
  readonly stop?: { readonly disabled: string };
}

/**
 * The question every failure state asks: retry, skip with a reason, mark as done outside with evidence, stop.
 * None is recommended: a failure is never passed without a person.
 */
export function failureQuestion(failure: Failure | undefined, ways: FailureWays): Question {
  return {
    kind: 'choice',
    prompt: failure?.shortMessage ?? 'this step failed',
    options: [
      { event: { type: 'operator.retry' }, label: 'try again', hint: ways.retry },
      skipOption(ways.skip),
      markDoneOption(ways.markDone),
      {
        event: { type: 'operator.stop' },
        label: 'stop the run',
        ...(ways.stop ?? { hint: 'the run is closed as stopped; keys and evidence stay' }),
      },
    ],
  };
}

function skipOption(way: WayOut): QuestionOption {
  const option = { event: { type: 'operator.skip' as const }, label: 'skip this step' };
  if (typeof way !== 'string') return { ...option, disabled: way.disabled };
  return { ...option, hint: way, needs: { what: 'reason', prompt: 'why is it skipped?' } };
}

function markDoneOption(way: WayOut): QuestionOption {
  const option = { event: { type: 'operator.markDone' as const }, label: 'it was done outside' };
  if (typeof way !== 'string') return { ...option, disabled: way.disabled };
  return {
    ...option,
    hint: 'the step counts as done on your word, and the record says so',
    needs: { what: 'evidence', prompt: way },
  };
}
