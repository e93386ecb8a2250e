import type { Started } from '../../machines/parts/task-data.ts';
import { failureOf, LifeboatError } from '../base/errors.ts';
import type { SendOutcome, StartedAction } from '../service/client.ts';
import { type ActivityOf, because, type OnceActivity, ok, type SendContext, type Sent } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { type Action, ActionBaseline, judgeAction, updateLines } from './doubt-action.ts';
import { isRefusal } from './evaluate-tasks.ts';
import { sentUnaccepted, timesOf } from './once-task.ts';

/** An action shows only in the instance's overview. `send` is the one call that begins it. */
function onceAction<Input extends { readonly intent: string }>(
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
      return (
        underWay(action, sent) ??
        sentUnaccepted(sent) ?? { sent: 'landed', output: { landed: true, adopted: false } }
      );
    },
    async judge(_, memory, { signal, now }) {
      // Taken before the request, for the reason given in `lookAt`.
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

/**
 * The service already does the same (409 in its own words), so it began nothing for this request. It is still
 * looked up, since the first of two sends of a router may have arrived.
 */
function underWay(action: Action, sent: SendOutcome<unknown>): Sent<never> | undefined {
  if (sent.outcome !== 'unknown' || !isRefusal(sent.failure)) return undefined;
  const failure = {
    ...sent.failure,
    shortMessage: `${action === 'update' ? 'an' : 'a'} ${action} of the instance is in progress already`,
    hints: ['nothing was done', `wait until the ${action} that is under way is over, then try again`],
  };
  return { sent: 'absent', failure, refused: true };
}

/** Service-api.md endpoint 14, at most once for each intent. */
export function restart(deps: ActivityDeps): ActivityOf<'restart'> {
  return onceAction('restart', deps, (_, context) => deps.service.restart(context));
}

/** Service-api.md endpoint 13, at most once for each intent. */
export function recreate(deps: ActivityDeps): ActivityOf<'recreate'> {
  return onceAction('recreate', deps, (_, context) => deps.service.recreate(context));
}

/** Service-api.md endpoint 15, at most once for each intent. */
export function update(deps: ActivityDeps): ActivityOf<'update'> {
  return onceAction('update', deps, async ({ serviceId }, context) => {
    let offering = serviceId;
    try {
      offering ??= await offeringOf(deps, context.signal);
    } catch (thrown) {
      return neverSent(thrown);
    }
    return deps.service.update({ serviceId: offering }, context);
  });
}

async function offeringOf({ service }: ActivityDeps, signal: AbortSignal): Promise<string> {
  const { value } = await service.overview(signal);
  if (value.service_id !== undefined) return value.service_id;
  throw new LifeboatError(
    'service.no-service-id',
    'the service does not say which offering the instance is of',
    { hints: ['nothing was sent to the service'] },
  );
}

function neverSent(thrown: unknown): SendOutcome<never> {
  return { outcome: 'never-sent', failure: failureOf(thrown), serverDate: undefined };
}
