import type { Triggered } from '../../machines/parts/verbs.ts';
import type { Secret } from '../secret.ts';
import type { ActivityResult, OnceActivity } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { judgeTask } from './doubt.ts';
import { baselineOf, lookAt, sentTask } from './once-task.ts';
import { type ExpectedBackup, recoveryFromElsewhere } from './restore-fits.ts';
import { because, no, ok } from './results.ts';

interface Input {
  readonly intent: string;
  /** The source's `backup_guid` for its newest backup, or the `backup_id` of a certain one. */
  readonly backupGuid: string;
  /** The key that the backup was made with. */
  readonly fingerprint: string;
  /** The instance under whose name the key is kept; the run's own without it. */
  readonly source?: string | undefined;
  /** What is known of that backup, so that a colleague's recovery of another one is not taken for ours when an answer is lost. */
  readonly expectFrom?: ExpectedBackup | undefined;
}

/**
 * Recovers another instance's backup into this one, the target (service-api.md endpoint 11), at most once for each intent. Without the key at
 * hand nothing is armed.
 */
export function performRecovery(deps: ActivityDeps): OnceActivity<Input, Triggered> {
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
  { fingerprint, source }: Input,
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
