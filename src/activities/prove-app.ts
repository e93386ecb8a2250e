import { errorFrom } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { ActivityOf } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { atPlatform } from './use-platform.ts';

/** Whether an application is bound anew and runs, whoever did it. `app.not-rebound` says what is missing. */
export function proveApp(deps: ActivityDeps): ActivityOf<'proveApp'> {
  return {
    kind: 'read',
    run: ({ app, to, notBefore }, context) =>
      atPlatform(deps, context, `looking at ${show(app.name, 100)}`, async (platform, options) => {
        const proven = await platform.prove(app, to, { ...options, notBefore });
        if ('code' in proven) throw errorFrom(proven);
        return proven;
      }),
  };
}
