import { failureOf } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import type { ActivityOf } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { because, harmless, no, ok, repeatableVerb } from './results.ts';
import { sentAgain } from './sent-again.ts';

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

/**
 * Allows or forbids maintenance updates (revision 61 only, service-api.md section 4.2 item 6). The same again
 * changes nothing more, so after a crash it is set again. No call reads the setting back: what answers are
 * lost again and again is a failure that may be tried later. After a lost answer the evidence says
 * `mayBeInForce`, whatever became of the next request.
 */
export function changeUpdateSetting(deps: ActivityDeps): ActivityOf<'changeUpdateSetting'> {
  return repeatableVerb(async ({ setting }, context) => {
    let wasLost = false;
    const send = async () => {
      const sent = await deps.service.changeUpdateSetting(setting, context);
      wasLost ||= sent.outcome === 'unknown';
      return sent;
    };
    const sent = await sentAgain(send, context.signal);
    if (sent.outcome === 'unknown') return because(unsure(harmless(sent.failure)));
    if (sent.outcome !== 'accepted') return because(wasLost ? unsure(sent.failure) : sent.failure);
    const now = sent.value.setting ?? setting;
    if (now.allowed === setting.allowed) return ok({ type: now.type, allowed: now.allowed });
    const word = now.allowed ? 'allowed' : 'forbidden';
    return no('settings.not-taken', `the service accepted the setting, but says that updates are ${word}`, {
      hints: ['setting it again does no harm', 'the operator of the platform may have fixed it'],
    });
  });
}

function unsure(failure: Failure): Failure {
  return { ...failure, evidence: { ...failure.evidence, mayBeInForce: true } };
}
