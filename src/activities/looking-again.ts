import { failureOf } from '../base/errors.ts';
import type { OnceActivity } from './activity.ts';
import { PASSING, PATIENCE_MS } from './poll.ts';

const PAUSE_MS = 5_000;

/**
 * The same activity, but for a service that cannot be asked at the moment what became of a lost request: it
 * is asked again for two minutes, since one torn answer is no reason to ask a person. Nothing is concluded
 * from it, and nothing is sent meanwhile. After that `judge` rejects as before. How long it could not be
 * asked is not kept: another process begins to count anew.
 */
export function lookingAgain<Input extends { readonly intent: string }, Output>(
  activity: OnceActivity<Input, Output>,
): OnceActivity<Input, Output> {
  const unseenSince = new Map<string, number>();
  return {
    ...activity,
    async judge(input, memory, context) {
      const { intent } = input;
      try {
        const judgement = await activity.judge(input, memory, context);
        unseenSince.delete(intent);
        return judgement;
      } catch (thrown) {
        const nowMs = context.now().getTime();
        const since = unseenSince.get(intent) ?? nowMs;
        const isOver = !PASSING.has(failureOf(thrown).code) || nowMs - since > PATIENCE_MS;
        if (isOver || context.signal.aborted) {
          unseenSince.delete(intent);
          throw thrown;
        }
        unseenSince.set(intent, since);
        return { verdict: 'wait', ms: PAUSE_MS, untilMs: since + PATIENCE_MS, shows: 'unknown' };
      }
    },
  };
}
