import type { ActivityOf } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { onceAction } from './once-action.ts';

/** Recreates the instance (service-api.md endpoint 13), at most once for each intent. */
export function recreate(deps: ActivityDeps): ActivityOf<'recreate'> {
  return onceAction('recreate', deps, (_, context) => deps.service.recreate(context));
}
