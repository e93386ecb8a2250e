import { show } from '../base/text.ts';
import type { ActivityOf } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { onPlatform } from './use-platform.ts';

/**
 * Stages and starts an application anew and waits until every instance runs. What an earlier attempt has
 * begun is gone on with.
 */
export function restageApp(deps: ActivityDeps): ActivityOf<'restageApp'> {
  return {
    kind: 'repeatable',
    run: ({ app, notBefore }, context) =>
      onPlatform(deps, context, `restaging ${show(app.name, 100)}`, (platform, options) =>
        platform.restage(app, { ...options, notBefore }),
      ),
  };
}
