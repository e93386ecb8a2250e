import type { BoundApp, PlatformProof } from '../../machines/parts/recovery-verbs.ts';
import { show } from '../text.ts';
import type { RepeatableActivity } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { onPlatform } from './use-platform.ts';

/** Removes the binding that an application had before the restore. One that is gone stays gone, so it may be done again. */
export function unbindApp(deps: ActivityDeps): RepeatableActivity<{ readonly app: BoundApp }, PlatformProof> {
  return {
    kind: 'repeatable',
    run: ({ app }, context) =>
      onPlatform(deps, context, `unbinding ${show(app.name, 100)}`, (platform, options) =>
        platform.unbind(app, options),
      ),
  };
}
