import type { Triggered } from '../../machines/parts/task-data.ts';
import type { InputOf } from '../../machines/verbs.ts';
import { instantOf } from '../base/instant.ts';
import type { Secret } from '../base/secret.ts';
import type { Restore } from '../service/schemas.ts';
import {
  type ActivityContext,
  type ActivityOf,
  type ActivityResult,
  because,
  type Judgement,
  no,
  ok,
} from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { judgeBackup, judgeTask } from './doubt.ts';
import { type Look, lookingBeyond, type Telling, wasPlainlyAccepted } from './evaluate-tasks.ts';
import { baselineOf, lookAt, sentTask } from './once-task.ts';
import { lackOfKey, recoveryFromElsewhere, restoreOfBackup, restoreToInstant } from './restore-fits.ts';

/** Service-api.md endpoint 3, at most once for each intent. */
export function createBackup(deps: ActivityDeps): ActivityOf<'createBackup'> {
  return {
    kind: 'once',
    async prepare({ needsKey }, { instance, signal }) {
      const lack = needsKey === true ? await lackOfKey(deps.keyring, instance) : undefined;
      return lack === undefined ? baselineOf(deps, 'backups', signal) : { ok: false, failure: lack };
    },
    send: async (_, context, baseline) =>
      sentTask(await deps.service.createBackup(context), 'backup', baseline),
    judge: async (_, memory, context) => {
      const look = await lookAt(() => deps.service.backups(context.signal), memory, deps, context);
      return lookingBeyond(deps.service, 'backup', look, context, judgeBackup);
    },
  };
}

/**
 * Service-api.md endpoint 7, at most once for each intent. A colleague's restore of the same backup at the
 * same moment looks like ours; it is adopted, since the alternative is to send twice.
 */
export function restoreBackup(deps: ActivityDeps): ActivityOf<'restoreBackup'> {
  return {
    kind: 'once',
    prepare: (_, { signal }) => baselineOf(deps, 'restores', signal),
    send: async ({ backup }, context, baseline) =>
      sentTask(await deps.service.restoreBackup(backup, context), 'restore', baseline),
    judge: async ({ backup }, memory, context) => {
      const look = await lookAt(() => deps.service.restores(context.signal), memory, deps, context);
      return judgeRestore(deps, look, restoreOfBackup(backup), context);
    },
  };
}

/**
 * Service-api.md endpoint 18, at most once for each intent. The answer names no restore, so even an accepted
 * one is looked up in the list; if it does not appear within the in-flight window, a person is asked, and it
 * is never absent.
 */
export function restoreToTime(deps: ActivityDeps): ActivityOf<'restoreToTime'> {
  return {
    kind: 'once',
    async prepare({ targetTime }, { signal }) {
      // The restore is recognized by the time later, so it is checked before anything is armed.
      if (instantOf(targetTime) === undefined)
        return no('pitr.no-time', 'the time to restore to is not a full date and time', {
          hints: ['write it like 2026-03-01T02:59:00Z; nothing was sent to the service'],
        });
      return baselineOf(deps, 'restores', signal);
    },
    async send({ targetTime }, context, baseline) {
      const sent = await deps.service.restoreToTime(targetTime, context);
      return sentTask(sent.outcome === 'accepted' ? { ...sent, value: {} } : sent, 'restore', baseline);
    },
    judge: async ({ targetTime }, memory, context) => {
      const look = await lookAt(() => deps.service.restores(context.signal), memory, deps, context);
      if (!wasPlainlyAccepted(memory.lost) || !isOnlyOne(look))
        return judgeRestore(deps, look, restoreToInstant(targetTime), context);
      const own = await deps.service.backups(context.signal);
      return judgeRestore(deps, look, restoreToInstant(targetTime, own.value), context);
    },
  };
}

function judgeRestore(
  { service }: ActivityDeps,
  look: Look<Restore>,
  telling: Telling<Restore>,
  context: ActivityContext,
): Promise<Judgement<Triggered>> {
  return lookingBeyond(service, 'restore', look, context, (seen) => judgeTask(seen, telling));
}

function isOnlyOne({ baseline, tasks }: Look<Restore>): boolean {
  const before = new Set(baseline.tasks.map(([id]) => id));
  return tasks.filter(({ id }) => !before.has(id)).length === 1;
}

/**
 * Recovers another instance's backup (service-api.md endpoint 11), at most once for each intent. Without the
 * key nothing is armed.
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
      return judgeRestore(deps, look, recoveryFromElsewhere(own.value, memory.lost, expectFrom), context);
    },
  };
}

/** The key stays in memory: unlike a result of `run`, this is not journalled. */
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
