import { show } from '../base/text.ts';
import type { ActivityOf } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { onPlatform } from './use-platform.ts';

/**
 * Removes the binding that an application had before the restore. One that is gone stays gone, so it may be
 * done again.
 */
export function unbindApp(deps: ActivityDeps): ActivityOf<'unbindApp'> {
  return {
    kind: 'repeatable',
    run: ({ app }, context) =>
      onPlatform(deps, context, `unbinding ${show(app.name, 100)}`, (platform, options) =>
        platform.unbind(app, options),
      ),
  };
}
