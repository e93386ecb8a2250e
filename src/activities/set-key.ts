import type { KeySetting } from '../../machines/parts/verbs.ts';
import type { RepeatableActivity } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { because, no, ok } from './results.ts';

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
        const sent = await deps.service.changeBackupsConfig({ encryption_key: key }, signal);
        if (sent.outcome === 'accepted') {
          const set = { type: 'key.set', body: { fingerprint, run: runId, answer: 'accepted' } };
          return ok({ answer: 'accepted', status: sent.status }, [set]);
        }
        if (sent.outcome === 'unknown') {
          const body = { fingerprint, run: runId, ...(previous === undefined ? {} : { previous }) };
          return ok({ answer: 'unknown', failure: sent.failure }, [{ type: 'key.uncertain', body }]);
        }
        return because(sent.failure);
      } catch (thrown) {
        return because(thrown);
      }
    },
  };
}
