import type { FailureWays } from '../parts/failure-question.ts';
import { askAboutFailure } from './ask.ts';

/** Where an activity's failure leads. The failure is data in the context; the state shows it and asks. */
export function failTo<Target extends string>(target: Target) {
  return {
    target,
    actions: {
      type: 'keepFailure' as const,
      params: ({ event }: { event: { error: unknown } }) => ({ error: event.error }),
    },
  };
}

/** The same where a lost answer leads to a question of its own. */
export function failOrDoubt<Doubt extends string, Target extends string>(doubt: Doubt, target: Target) {
  return [
    {
      guard: {
        type: 'isDoubt' as const,
        params: ({ event }: { event: { error: unknown } }) => ({ error: event.error }),
      },
      ...failTo(doubt),
    },
    failTo(target),
  ];
}

/** The same where the service says that a task has ended badly, which is not that it cannot be seen. */
export function failOrOver<Over extends string, Target extends string>(over: Over, target: Target) {
  return [
    {
      guard: {
        type: 'isOver' as const,
        params: ({ event }: { event: { error: unknown } }) => ({ error: event.error }),
      },
      ...failTo(over),
    },
    failTo(target),
  ];
}

interface FailureState {
  readonly step: string;
  readonly title: string;
  readonly ways: FailureWays;
  /** Where another try begins. */
  readonly retry: string;
  /** Where skipping and marking as done lead, as far as the ways are open. */
  readonly next?: string;
  /** Where stopping leads. */
  readonly stopped?: string;
  /** The obligation that skipping and marking as done settle. */
  readonly settles?: string | undefined;
}

/** A failure state: retry, skip with a reason, done outside with evidence, stop; each open or closed with a sentence. */
export function failure({ step, title, ways, retry, next, stopped = 'stopped', settles }: FailureState) {
  const note = (word: string) => ({
    target: next,
    actions:
      settles === undefined
        ? {
            type: 'noteSkip' as const,
            params: ({ event }: { event: { text: string } }) => ({ step, reason: `${word}${event.text}` }),
          }
        : {
            type: word === '' ? ('skipObligation' as const) : ('settleByHand' as const),
            params: ({ event }: { event: { text: string } }) => ({ id: settles, text: event.text }),
          },
  });
  return {
    tags: ['question' as const, 'failed' as const],
    meta: { step, title, question: askAboutFailure(ways) },
    on: {
      'operator.retry': { target: retry, actions: 'clearFailure' as const },
      ...(typeof ways.skip === 'string' ? { 'operator.skip': note('') } : {}),
      ...(typeof ways.markDone === 'string' ? { 'operator.markDone': note('done outside: ') } : {}),
      ...(ways.stop === undefined ? { 'operator.stop': stopped } : {}),
    },
  };
}
