import type { BoundApp, PlatformProof } from '../../machines/parts/recovery-verbs.ts';
import { show } from '../text.ts';
import type { RepeatableActivity } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { onPlatform } from './use-platform.ts';

interface Input {
  readonly app: BoundApp;
  /** The end of the restore. RFC 3339. */
  readonly notBefore: string;
}

/** Stages and starts an application anew and waits until every instance runs. What an earlier attempt has begun is gone on with. */
export function restageApp(deps: ActivityDeps): RepeatableActivity<Input, PlatformProof> {
  return {
    kind: 'repeatable',
    run: ({ app, notBefore }, context) =>
      onPlatform(deps, context, `restaging ${show(app.name, 100)}`, (platform, options) =>
        platform.restage(app, { ...options, notBefore }),
      ),
  };
}
