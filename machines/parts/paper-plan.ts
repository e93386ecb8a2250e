import type { PaperStep } from './paper-step.ts';

/** One part of a runbook on paper: which states it stands for, and what is left of it. */
export interface PaperPart<Context> {
  /** The states of the machine in which this part is still to be done, wholly or in part. */
  readonly states: readonly string[];
  /**
   * What is left of it. `at` is the run's state when that belongs to this part, and undefined when the part lies ahead; `state` is the run's
   * state in any case.
   */
  readonly steps: (context: Context, at: string | undefined, state: string) => readonly PaperStep[];
}

/**
 * The rest of a run from `state` on: the part that the state belongs to and all after it. A state that no part names gives the whole plan,
 * since every call that must not be made twice begins with a look whether it was made. Nothing is left for one of the `over` states.
 */
export function paperFrom<Context>(
  plan: readonly PaperPart<Context>[],
  over: readonly string[],
  context: Context,
  state: string,
): readonly PaperStep[] {
  if (over.includes(state)) return [];
  const here = plan.findIndex(({ states }) => states.includes(state));
  return plan
    .slice(Math.max(0, here))
    .flatMap((part, index) => part.steps(context, index === 0 && here >= 0 ? state : undefined, state));
}
