import type { BackupSettings } from '../../machines/parts/task-data.ts';
import { failureOf } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import type { BackupsConfig } from '../service/schemas.ts';
import { type ActivityOf, because, harmless, no, ok, repeatableVerb } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { retryThrottled, sentAgain } from './once-task.ts';

/**
 * Service-api.md endpoint 9. Reads the settings back, since a service may accept the call and keep its
 * settings (section 4.1 rule 1). Repeating it changes nothing more, so after a crash they are set again.
 * After a lost answer, the settings read back decide: `adopted` if they show every change, otherwise a
 * failure that may be retried.
 */
export function changeBackupSettings(deps: ActivityDeps): ActivityOf<'changeBackupSettings'> {
  return repeatableVerb(async ({ settings }, context) => {
    const { signal } = context;
    const send = () => deps.service.changeBackupsConfig(wireOf(settings), context);
    const sent = await retryThrottled(send, signal);
    if (sent.outcome === 'refused' || sent.outcome === 'never-sent') return because(sent.failure);
    const { value } = await deps.service.backupsConfig(signal);
    const shown = settingsOf(value);
    const others = NAMES.filter((name) => settings[name] !== undefined && settings[name] !== shown[name]);
    if (sent.outcome !== 'accepted')
      return others.length > 0 ? because(harmless(sent.failure)) : ok({ answer: 'adopted', settings: shown });
    const refuted = others.filter((name) => shown[name] !== undefined);
    return refuted.length > 0
      ? notTaken(settings, shown, refuted)
      : ok({ answer: 'accepted', settings: shown });
  });
}

const NAMES = ['minBackupCount', 'retentionDays', 'excludedFromAutoBackup'] as const;

function wireOf({ minBackupCount, retentionDays, excludedFromAutoBackup }: BackupSettings) {
  return {
    ...(minBackupCount === undefined ? {} : { min_backup_count: minBackupCount }),
    ...(retentionDays === undefined ? {} : { retention_time: retentionDays }),
    ...(excludedFromAutoBackup === undefined ? {} : { exclude_from_auto_backup: excludedFromAutoBackup }),
  };
}

function settingsOf(config: BackupsConfig): BackupSettings {
  return {
    ...(config.min_backup_count === undefined ? {} : { minBackupCount: config.min_backup_count }),
    ...(config.retention_time === undefined ? {} : { retentionDays: config.retention_time }),
    ...(config.exclude_from_auto_backup === undefined
      ? {}
      : { excludedFromAutoBackup: config.exclude_from_auto_backup }),
  };
}

function notTaken(asked: BackupSettings, shown: BackupSettings, names: readonly (typeof NAMES)[number][]) {
  const [name] = names;
  const is = name === undefined ? '' : `: ${LABELS[name]} is ${shown[name]}, not ${asked[name]}`;
  return no('settings.not-taken', `the service accepted the settings, but does not show them${is}`, {
    hints: ['setting them again does no harm', 'the operator of the platform may have locked them'],
    evidence: { asked: valuesOf(asked), shown: valuesOf(shown) },
  });
}

function valuesOf(settings: BackupSettings) {
  return Object.fromEntries(NAMES.map((name) => [name, settings[name] ?? null]));
}

const LABELS = {
  minBackupCount: 'the least number of backups',
  retentionDays: 'the retention in days',
  excludedFromAutoBackup: 'the exclusion from scheduled backups',
} as const;

/**
 * By the revision (service-api.md section 4.2 item 6). Sends nothing: if the operator of the platform
 * disabled the call, this shows only when it is made.
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
 * Revision 61 only, service-api.md section 4.2 item 6. Repeating it changes nothing more, so after a crash it
 * is set again. No call reads the setting back, so repeatedly lost answers are a failure that may be retried
 * later. After a lost answer the evidence says `mayBeInForce`, whatever the outcome of the next request.
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
    if (sent.outcome !== 'accepted') {
      const failure = notOffered(sent.failure);
      return because(wasLost ? unsure(failure) : failure);
    }
    const now = sent.value.setting ?? setting;
    if (now.allowed === setting.allowed) return ok({ type: now.type, allowed: now.allowed });
    const word = now.allowed ? 'allowed' : 'forbidden';
    return no('settings.not-taken', `the service accepted the setting, but says that updates are ${word}`, {
      hints: ['setting it again does no harm', 'the operator of the platform may have locked it'],
    });
  });
}

/** The operator of the platform decides whether the call exists (service-api.md section 4.2 item 6). */
function notOffered(failure: Failure): Failure {
  if (failure.code !== 'service.not-found') return failure;
  return {
    ...failure,
    shortMessage: 'the operator of the platform does not offer to allow or forbid maintenance updates here',
    hints: ['nothing was changed', 'ask the operator of the platform'],
  };
}

function unsure(failure: Failure): Failure {
  return { ...failure, evidence: { ...failure.evidence, mayBeInForce: true } };
}
