import type { RecoveryPreparation } from '../../machines/parts/verbs.ts';
import type { SendOutcome } from '../service/client.ts';
import type { Untrusted } from '../text.ts';
import type { ActivityResult, RepeatableActivity } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { keyAnswer } from './key-answer.ts';
import { because, harmless, no, ok } from './results.ts';
import { sentAgain, sentWhenLetIn } from './sent-again.ts';

interface Input {
  /** A stored key to set on the instance with it; without one the instance keeps its key. */
  readonly fingerprint?: string | undefined;
  readonly previous?: string | undefined;
}

/**
 * Learns the `backup_guid` by which the instance's backups are recovered elsewhere (service-api.md endpoint 10). Without a key it changes nothing
 * and may be repeated at will. With one it is a change of the key: the same again changes nothing more, the ledger learns of
 * it as by `setKey`, and a lost answer is KEY UNCERTAIN.
 */
export function prepareRecovery(deps: ActivityDeps): RepeatableActivity<Input, RecoveryPreparation> {
  return {
    kind: 'repeatable',
    async run({ fingerprint, previous }, { instance, runId, signal }) {
      try {
        if (fingerprint === undefined) {
          const send = () => deps.service.prepareRecovery({}, signal);
          const tellsGuid = ({ backupGuid }: { readonly backupGuid?: string | undefined }) =>
            backupGuid !== undefined;
          return withoutKey(await sentAgain(send, signal, tellsGuid));
        }
        const key = await deps.keyring.load(instance, fingerprint);
        if (key === undefined) {
          return no('key.not-stored', `key ${fingerprint} is not in ${deps.keyring.store.description}`, {
            hints: ['nothing was sent to the service'],
          });
        }
        const sent = await sentWhenLetIn(() => deps.service.prepareRecovery({ key }, signal), signal);
        const result = keyAnswer(sent, { fingerprint, previous, run: runId });
        return result.ok ? { ...result, output: { ...result.output, ...guidOf(sent) } } : result;
      } catch (thrown) {
        return because(thrown);
      }
    },
  };
}

type Answer = SendOutcome<{ readonly backupGuid: Untrusted | undefined }>;

function withoutKey(sent: Answer): ActivityResult<RecoveryPreparation> {
  if (sent.outcome === 'accepted') return ok({ answer: 'accepted', status: sent.status, ...guidOf(sent) });
  return because(sent.outcome === 'unknown' ? harmless(sent.failure) : sent.failure);
}

function guidOf(sent: Answer): { backupGuid?: string } {
  if (sent.outcome !== 'accepted' || sent.value.backupGuid === undefined) return {};
  return { backupGuid: sent.value.backupGuid };
}
