import type { InputOf } from '../../machines/verbs.ts';
import type { Secret } from '../base/secret.ts';
import type { ActivityOf, ActivityResult } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { judgeTask } from './doubt.ts';
import { baselineOf, lookAt, sentTask } from './once-task.ts';
import { recoveryFromElsewhere } from './restore-fits.ts';
import { because, no, ok } from './results.ts';

/**
 * Recovers another instance's backup into this one, the target (service-api.md endpoint 11), at most once for
 * each intent. Without the key at hand nothing is armed.
 */
export function performRecovery(deps: ActivityDeps): ActivityOf<'performRecovery'> {
  return {
    kind: 'once',
    async prepare(input, { instance, signal }) {
      const key = await keyFor(deps, input, instance);
      return key.ok ? baselineOf(deps, 'restores', signal) : key;
    },
    async send(input, context, baseline) {
      const key = await keyFor(deps, input, context.instance);
      if (!key.ok) return { sent: 'absent', failure: key.failure };
      const { backupGuid } = input;
      const sent = await deps.service.performRecovery({ backupGuid, key: key.output }, context);
      return sentTask(
        sent.outcome === 'accepted' ? { ...sent, value: { id: sent.value.restoreId } } : sent,
        'restore',
        baseline,
      );
    },
    async judge({ expectFrom }, memory, context) {
      const look = await lookAt(() => deps.service.restores(context.signal), memory, deps, context);
      const own = await deps.service.backups(context.signal);
      return judgeTask(look, recoveryFromElsewhere(own.value, memory.lost, expectFrom));
    },
  };
}

/** The key out of the key store. It stays in memory: a result of `run` is journalled, this one is not. */
async function keyFor(
  { keyring }: ActivityDeps,
  { fingerprint, source }: InputOf<'performRecovery'>,
  instance: string,
): Promise<ActivityResult<Secret>> {
  try {
    const key = await keyring.load(source ?? instance, fingerprint);
    if (key !== undefined) return ok(key);
    return no('key.not-stored', `key ${fingerprint} is not in ${keyring.store.description}`, {
      hints: [
        'nothing was sent to the service',
        'a key kept elsewhere can be added: lifeboat keys add INSTANCE',
      ],
    });
  } catch (thrown) {
    return because(thrown);
  }
}
