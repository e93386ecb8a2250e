import type { RecoveryPreparation } from '../../machines/parts/task-data.ts';
import type { Secret } from '../base/secret.ts';
import type { Untrusted } from '../base/text.ts';
import type { SendOutcome } from '../service/client.ts';
import type { ActivityOf, ActivityResult } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { because, harmless, ok, repeatableVerb } from './results.ts';
import { sendKey } from './send-key.ts';
import { sentAgain } from './sent-again.ts';

/**
 * Learns the `backup_guid` by which the instance's backups are recovered elsewhere (service-api.md endpoint
 * 10). Without a key it changes nothing and may be repeated at will. With one it is a change of the key: the
 * same again changes nothing more, the ledger learns of it as by `setKey`, and a lost answer is KEY
 * UNCERTAIN.
 */
export function prepareRecovery(deps: ActivityDeps): ActivityOf<'prepareRecovery'> {
  return repeatableVerb(async ({ fingerprint, previous }, context) => {
    const { signal } = context;
    if (fingerprint === undefined) {
      const send = () => deps.service.prepareRecovery({}, context);
      const tellsGuid = ({ backupGuid }: { readonly backupGuid?: string | undefined }) =>
        backupGuid !== undefined;
      return withoutKey(await sentAgain(send, signal, tellsGuid));
    }
    const send = (key: Secret) => deps.service.prepareRecovery({ key }, context);
    const { result, sent } = await sendKey(deps, { fingerprint, previous }, context, send);
    if (!result.ok || sent === undefined) return result;
    return { ...result, output: { ...result.output, ...guidOf(sent) } };
  });
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
