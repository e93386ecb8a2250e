import type { FailureWays } from '../parts/failure-question.ts';
import { askAboutFailure } from './asking.ts';
import type { PhaseConfig } from './phase.ts';

type ErrorEvent = { event: { error: unknown } };
type TextEvent = { event: { text: string } };

const errorOf = ({ event }: ErrorEvent) => ({ error: event.error });

/** Where a verb's failure leads. The failure is data in the context; the state shows it and asks. */
export function failTo<Target extends string>(target: Target) {
  return { target, actions: { type: 'keepFailure' as const, params: errorOf } };
}

/** The same where a lost answer leads to a question of its own. */
export function failOrDoubt<Doubt extends string, Target extends string>(doubt: Doubt, target: Target) {
  return [{ guard: { type: 'isDoubt' as const, params: errorOf }, ...failTo(doubt) }, failTo(target)];
}

/** The same where the service says that a task has ended badly, which is not that it cannot be seen. */
export function failOrOver<Over extends string, Target extends string>(over: Over, target: Target) {
  return [{ guard: { type: 'isOver' as const, params: errorOf }, ...failTo(over) }, failTo(target)];
}

interface FailureState {
  /** The phase that it is noted for when it is skipped. */
  readonly step: string;
  readonly title: string;
  readonly ways: FailureWays;
  /** Where another try begins. */
  readonly retry: string;
  /** Where skipping and marking as done lead, as far as the ways are open. */
  readonly next?: string | undefined;
  /** Where stopping leads. */
  readonly stop?: string | undefined;
  /** What happens instead of noting the reason. */
  readonly on?: Record<string, unknown>;
}

/**
 * A failure state: retry, skip with a reason, done outside with evidence, stop; each open or closed with a
 * sentence.
 */
export function failure({
  step,
  title,
  ways,
  retry,
  next,
  stop = '#stopped',
  on,
}: FailureState): PhaseConfig {
  const note = (word: string) => ({
    target: next,
    actions: {
      type: 'noteSkip' as const,
      params: ({ event }: TextEvent) => ({ step, reason: `${word}${event.text}` }),
    },
  });
  return {
    tags: ['question', 'failed'],
    meta: { title, question: askAboutFailure(ways) },
    on: {
      'operator.retry': { target: retry, actions: 'clearFailure' },
      ...(typeof ways.skip === 'string' ? { 'operator.skip': note('') } : {}),
      ...(typeof ways.markDone === 'string' ? { 'operator.markDone': note('done outside: ') } : {}),
      ...(ways.stop === undefined ? { 'operator.stop': stop } : {}),
      ...on,
    },
  } as PhaseConfig;
}
