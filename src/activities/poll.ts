import { setTimeout as rest } from 'node:timers/promises';
import { failureOf } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { ActivityContext, ActivityResult, OnceActivity, Overdue } from './activity.ts';
import { because } from './results.ts';

/** For so long a service that cannot be asked, or says something that makes no sense, is only waited for. */
const PATIENCE_MS = 120_000;

/** What may pass by itself: out of reach, too busy, or a page and a torn answer from somebody in between. */
const PASSING: ReadonlySet<string> = new Set([
  'service.unreachable',
  'service.timeout',
  'service.reset',
  'service.error',
  'service.busy',
  // Revision 61 lists 409 for asking as well (service-api.md section 4.2 item 2).
  'service.conflict',
  'service.bad-answer',
  // A login page comes as a redirect as often as it comes in place of an answer.
  'service.redirect',
]);

/** What one look showed. Without a result it is looked at again. */
export interface Seen<Output> {
  /** The service's own word, shown meanwhile. */
  readonly status: string;
  readonly result?: ActivityResult<Output> | undefined;
  /** Set when it takes longer than it should. */
  readonly overdue?: Overdue | undefined;
}

const FIRST_PAUSE_MS = 250;
const SLOWEST_PAUSE_MS = 15_000;
/** For so long it is looked at often; a queue of hours costs little after that. */
const EAGER_MS = 30_000;

/** What a service says that is a moment behind its own answer. */
const BEHIND = 'service.not-found';

/**
 * Looks again and again, less and less often, until a look gives a result. Fails with the service's own
 * failure when it could not be asked for two minutes, at once when it refuses, and when the signal is
 * aborted. `what` names the thing for the screen.
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
