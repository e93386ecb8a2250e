import { failureOf, LifeboatError } from '../base/errors.ts';
import type { SendOutcome } from '../service/client.ts';
import type { ActivityOf } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { onceAction } from './once-action.ts';

/** Applies the pending maintenance updates (service-api.md endpoint 15), at most once for each intent. */
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
    {
      hints: ['nothing was sent to the service'],
    },
  );
}

function neverSent(thrown: unknown): SendOutcome<never> {
  return { outcome: 'never-sent', failure: failureOf(thrown), serverDate: undefined };
}
