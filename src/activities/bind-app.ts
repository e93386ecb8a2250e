import { show } from '../base/text.ts';
import type { ActivityOf } from './activity.ts';
import { readParameters } from './binding-parameters.ts';
import type { ActivityDeps } from './deps.ts';
import { onPlatform } from './use-platform.ts';

/**
 * Binds an application with the name and the parameters of before, which come from their private file: they
 * are in no journal. What an earlier attempt has bound is found again. `binding.parameters-lost`: the file is
 * gone or was changed, and nothing was bound.
 */
export function bindApp(deps: ActivityDeps): ActivityOf<'bindApp'> {
  return {
    kind: 'repeatable',
    run: ({ app, to, notBefore, beside }, context) =>
      onPlatform(deps, context, `binding ${show(app.name, 100)}`, async (platform, options) => {
        const parameters = await readParameters(app.binding ?? {});
        return platform.bind(app, to, { ...options, parameters, notBefore, beside });
      }),
  };
}
