import { setTimeout as rest } from 'node:timers/promises';
import { failureOf } from '../base/errors.ts';
import { show } from '../base/text.ts';
import {
  type ActivityContext,
  type ActivityResult,
  because,
  type OnceActivity,
  type Overdue,
} from './activity.ts';

/** The wait for a service that cannot be asked, or answers nonsense. */
const PATIENCE_MS = 120_000;

/** May pass by themselves: unreachable, too busy, or a page or broken answer from a proxy. */
const PASSING: ReadonlySet<string> = new Set([
  'service.unreachable',
  'service.timeout',
  'service.reset',
  'service.error',
  'service.busy',
  // Revision 61 also returns 409 for reads (service-api.md section 4.2 item 2).
  'service.conflict',
  'service.bad-answer',
  // A login page comes as a redirect as often as in place of an answer.
  'service.redirect',
]);

/** Without `result`, looks again. */
export interface Seen<Output> {
  /** The service's own word, shown while waiting. */
  readonly status: string;
  readonly result?: ActivityResult<Output> | undefined;
  /** Longer than expected. */
  readonly overdue?: Overdue | undefined;
}

const FIRST_PAUSE_MS = 250;
const SLOWEST_PAUSE_MS = 15_000;
/** After this, a longer pause between looks costs little. */
const EAGER_MS = 30_000;

/** The service may lag a moment behind its own answer. */
const BEHIND = 'service.not-found';

/**
 * At growing intervals, until a look gives a result. Fails with the service's own failure if it could not be
 * asked for two minutes, at once if it refuses, and if the signal is aborted. `what` names the thing for the
 * screen.
 */
export async function poll<Output>(
  what: string,
  { signal, report, now }: ActivityContext,
  look: () => Promise<Seen<Output>>,
): Promise<ActivityResult<Output>> {
  const since = now().getTime();
  let seenAt = since;
  let pause = FIRST_PAUSE_MS;
  let late: Overdue | undefined;
  for (;;) {
    try {
      const { status, result, overdue } = await look();
      seenAt = now().getTime();
      late = overdue;
      report({ kind: 'task', status: show(status, 80), what, ...(late && { overdue: late }) });
      if (result !== undefined) return result;
    } catch (thrown) {
      const failure = failureOf(thrown);
      const passes = PASSING.has(failure.code) || failure.code === BEHIND;
      if (!passes || now().getTime() - seenAt > PATIENCE_MS) return because(failure);
      report({
        kind: 'task',
        status: `not seen: ${failure.shortMessage}`,
        what,
        ...(late && { overdue: late }),
      });
    }
    try {
      await rest(pause, undefined, { signal });
    } catch {
      return because(signal.reason);
    }
    pause = Math.min(pause * 1.5, now().getTime() - since < EAGER_MS ? 2_000 : SLOWEST_PAUSE_MS);
  }
}

const PAUSE_MS = 5_000;

/**
 * If the service cannot be asked for the outcome of a lost request, it is asked again for two minutes, since
 * one broken answer is no reason to ask a person. Until then nothing is concluded or sent; after that `judge`
 * rejects as before. The time is not stored: another process starts counting again.
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
