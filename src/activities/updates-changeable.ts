import { failureOf } from '../base/errors.ts';
import type { ActivityOf } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { ok } from './results.ts';

/**
 * Whether the revision offers to forbid maintenance updates (service-api.md section 4.2 item 6). Nothing is
 * sent: that the operator of the platform has taken the call away shows only when it is made.
 */
export function updatesChangeable(deps: ActivityDeps): ActivityOf<'updatesChangeable'> {
  return {
    kind: 'read',
    async run() {
      try {
        deps.service.require('changeUpdateSetting');
        return ok({ changeable: true });
      } catch (thrown) {
        return ok({ changeable: false, why: failureOf(thrown).shortMessage });
      }
    },
  };
}
