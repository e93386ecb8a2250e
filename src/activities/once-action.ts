import type { Started } from '../../machines/parts/task-data.ts';
import type { SendOutcome, StartedAction } from '../service/client.ts';
import type { OnceActivity, SendContext } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { type Action, ActionBaseline, judgeAction, updateLines } from './doubt-action.ts';
import { sentUnaccepted, timesOf } from './once-task.ts';
import { because, ok } from './results.ts';

/** An action of the instance that shows in its overview only. `send` is the one call that begins it. */
export function onceAction<Input extends { readonly intent: string }>(
  action: Action,
  deps: ActivityDeps,
  send: (input: Input, context: SendContext) => Promise<SendOutcome<StartedAction>>,
): OnceActivity<Input, Started> {
  return {
    kind: 'once',
    async prepare(_, { signal }) {
      try {
        const { value, skew } = await deps.service.overview(signal);
        await deps.service.ready(signal);
        return ok<ActionBaseline>({
          state: value.state ?? null,
          updatedAt: value.updated_at ?? null,
          updates: updateLines(value) ?? null,
          skew: skew ?? null,
        });
      } catch (thrown) {
        return because(thrown);
      }
    },
    async send(input, context) {
      const sent = await send(input, context);
      return sentUnaccepted(sent) ?? { sent: 'landed', output: { landed: true, adopted: false } };
    },
    async judge(_, memory, { signal, now }) {
      // Before the question, for the reason that `lookAt` gives.
      const nowMs = now().getTime();
      const { value, skew } = await deps.service.overview(signal);
      return judgeAction({
        action,
        baseline: ActionBaseline.parse(memory.baseline),
        ...timesOf(memory),
        nowMs,
        inFlightMs: deps.inFlightMs,
        overview: value,
        skew,
        refusal: memory.refusal,
      });
    },
  };
}
