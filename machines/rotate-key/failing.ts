import type { RotateKeyContext } from './context.ts';
import * as ask from './questions.ts';

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

/** A failure state: retry leads to `retry`; skip and mark-done lead to `next`, or are closed when there is none. */
export function failure(
  state: keyof typeof ask.FAILURE_WAYS,
  step: string,
  title: string,
  retry: string,
  next?: string,
) {
  const note = (word: string) => ({
    target: next,
    actions: {
      type: 'noteSkip' as const,
      params: ({ event }: { event: { text: string } }) => ({ step, reason: `${word}${event.text}` }),
    },
  });
  return {
    tags: ['question' as const, 'failed' as const],
    meta: { step, title, question: ask.askAboutFailure(state) },
    on: {
      'operator.retry': { target: retry, actions: 'clearFailure' as const },
      'operator.stop': 'stopped',
      ...(next === undefined
        ? {}
        : { 'operator.skip': note(''), 'operator.markDone': note('done outside: ') }),
    },
  };
}

/** The stored key; states after `storing` cannot be reached without one. */
export function held(context: RotateKeyContext) {
  if (context.key === undefined) throw new Error('no key is stored at this point');
  return context.key;
}

export function recordOf(context: RotateKeyContext) {
  const { backup, verification, negative } = context;
  if (backup === undefined || verification === undefined)
    throw new Error('nothing is verified at this point');
  return {
    fingerprint: held(context).fingerprint,
    backup: backup.facts ?? { id: backup.id, status: 'unknown' },
    verification,
    ...(negative === undefined ? {} : { negative }),
    settles: context.setting?.answer !== 'accepted',
  };
}
