import type { ActivityOf } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { onceAction } from './once-action.ts';

/** Restarts the instance (service-api.md endpoint 14), at most once for each intent. */
export function restart(deps: ActivityDeps): ActivityOf<'restart'> {
  return onceAction('restart', deps, (_, context) => deps.service.restart(context));
}
