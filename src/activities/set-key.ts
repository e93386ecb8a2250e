import type { Secret } from '../base/secret.ts';
import type { ActivityOf } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { because } from './results.ts';
import { sendKey } from './send-key.ts';

/**
 * Sets a stored key on the instance (service-api.md endpoint 9). The same key again changes nothing more, so
 * after a crash it is set again; how doubt about it is kept is said at `sendKey`.
 */
export function setKey(deps: ActivityDeps): ActivityOf<'setKey'> {
  return {
    kind: 'repeatable',
    async run(input, context) {
      try {
        const send = (key: Secret) => deps.service.changeBackupsConfig({ encryption_key: key }, context);
        return (await sendKey(deps, input, context, send)).result;
      } catch (thrown) {
        return because(thrown);
      }
    },
  };
}
