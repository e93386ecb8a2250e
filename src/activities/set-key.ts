import type { KeySetting } from '../../machines/parts/verbs.ts';
import type { RepeatableActivity } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { keyAnswer } from './key-answer.ts';
import { because, no } from './results.ts';
import { sentWhenLetIn } from './sent-again.ts';

interface Input {
  readonly fingerprint: string;
  readonly previous?: string | undefined;
}

/**
 * Sets a stored key on the instance (service-api.md endpoint 9). The same key again changes nothing more, so after a crash it is set
 * again. A lost answer is no failure: the ledger says `key.uncertain`, both keys are kept, and the next backup tells.
 */
export function setKey(deps: ActivityDeps): RepeatableActivity<Input, KeySetting> {
  return {
    kind: 'repeatable',
    async run({ fingerprint, previous }, { instance, runId, signal }) {
      try {
        const key = await deps.keyring.load(instance, fingerprint);
        if (key === undefined) {
          return no('key.not-stored', `key ${fingerprint} is not in ${deps.keyring.store.description}`, {
            hints: ['nothing was sent to the service'],
          });
        }
        const send = () => deps.service.changeBackupsConfig({ encryption_key: key }, signal);
        const sent = await sentWhenLetIn(send, signal);
        return keyAnswer(sent, { fingerprint, previous, run: runId });
      } catch (thrown) {
        return because(thrown);
      }
    },
  };
}
