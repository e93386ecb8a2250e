import { show } from '../base/text.ts';
import type { ActivityOf } from './activity.ts';
import { readParameters } from './binding-parameters.ts';
import type { ActivityDeps } from './deps.ts';
import { onPlatform } from './use-platform.ts';

/**
 * Makes a service key anew under its old name, with the parameters that were kept when it was found: they
 * outlive a death between its removal and its making. A key that was made after the restore is left alone, so
 * it may be done again. `binding.parameters-lost`: the file is gone or was changed, and nothing was done.
 */
export function renewServiceKey(deps: ActivityDeps): ActivityOf<'renewServiceKey'> {
  return {
    kind: 'repeatable',
    run: ({ key, to, notBefore }, context) =>
      onPlatform(
        deps,
        context,
        `renewing the service key ${show(key.name, 100)}`,
        async (platform, options) => {
          const parameters = await readParameters(key);
          return platform.renewKey(key, to, { ...options, parameters, notBefore });
        },
      ),
  };
}
