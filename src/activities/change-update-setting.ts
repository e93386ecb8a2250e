import type { UpdateSetting } from '../../machines/parts/verbs.ts';
import type { RepeatableActivity } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { because, harmless, no, ok } from './results.ts';
import { sentAgain } from './sent-again.ts';

/**
 * Allows or forbids maintenance updates (revision 61 only, service-api.md section 4.2 item 6). The same again changes nothing more, so after a
 * crash it is set again. No call reads the setting back: what answers are lost again and again is a failure that may be tried later.
 */
export function changeUpdateSetting(
  deps: ActivityDeps,
): RepeatableActivity<{ setting: UpdateSetting }, UpdateSetting> {
  return {
    kind: 'repeatable',
    async run({ setting }, { signal }) {
      try {
        const sent = await sentAgain(() => deps.service.changeUpdateSetting(setting, signal), signal);
        if (sent.outcome === 'unknown') return because(harmless(sent.failure));
        if (sent.outcome !== 'accepted') return because(sent.failure);
        const now = sent.value.setting ?? setting;
        if (now.allowed === setting.allowed) return ok({ type: now.type, allowed: now.allowed });
        const word = now.allowed ? 'allowed' : 'forbidden';
        return no(
          'settings.not-taken',
          `the service accepted the setting, but says that updates are ${word}`,
          {
            hints: ['setting it again does no harm', 'the operator of the platform may have fixed it'],
          },
        );
      } catch (thrown) {
        return because(thrown);
      }
    },
  };
}
