import { isOpen } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import type { FallbackField } from '../parts/fallback-step.ts';
import type { FallbackPart } from '../parts/runbook.ts';
import type { BackupSettings, UpdateSetting } from '../parts/task-data.ts';
import { instanceNow, isIn, knownOr, type LeftOfRun, stepFor } from './steps.ts';

export const freezeFallback: FallbackPart<RunContext> = (left) =>
  mayNotHold(left.context)
    ? []
    : [
        stepFor(
          left,
          'forbid maintenance updates meanwhile',
          [setUpdates(left, settingOf(left, false))],
          [
            'Only interfaces of revision 61 offer it: skip it when the service does not know it.',
            'Skip it, too, unless you know that updates are allowed now: the service does not report it.',
          ],
        ),
      ];

export const releaseFallback: FallbackPart<RunContext> = (left) =>
  mayNotHold(left.context)
    ? []
    : [
        stepFor(
          left,
          'allow maintenance updates again',
          [setUpdates(left, settingOf(left, true))],
          ['Skip it unless you forbade them yourself before the change.'],
        ),
      ];

/** The release belongs to the phase before; here only once that phase is passed. */
export const actionFollowUpsFallback: FallbackPart<RunContext> = (left) =>
  left.at === undefined ? [] : releaseFallback(left);

export const updatesFallback: FallbackPart<RunContext> = (left) => {
  const setting = left.context.run.single?.setting;
  if (setting === undefined) return [];
  return [
    stepFor(
      left,
      `${setting.allowed ? 'allow' : 'forbid'} maintenance updates`,
      [setUpdates(left, setting)],
      ['The same setting twice changes nothing more.'],
    ),
  ];
};

const SETTINGS: Readonly<Record<keyof BackupSettings, string>> = {
  minBackupCount: 'min_backup_count',
  retentionDays: 'retention_time',
  excludedFromAutoBackup: 'exclude_from_auto_backup',
};

export const settingsFallback: FallbackPart<RunContext> = (left) => {
  const { instance, single } = left.context.run;
  const body: Record<string, FallbackField> = {};
  for (const [name, field] of Object.entries(SETTINGS)) {
    const literal = single?.settings?.[name as keyof BackupSettings];
    if (literal !== undefined) body[field] = { literal };
  }
  if (Object.keys(body).length === 0) return [];
  const what = `The settings of backups of ${instance} are changed. The service may delete backups that the new ones do not keep.`;
  return [
    stepFor(
      left,
      `change the settings of backups of ${instance}`,
      [{ do: 'confirm-name', name: instance, what }, left.calls.change('changeBackupSettings', { body })],
      ['The same settings twice change nothing more.'],
    ),
  ];
};

export const actFallback: FallbackPart<RunContext> = (left) => {
  const { run, preflight } = left.context;
  const { instance, action = 'restart' } = run;
  const { facts } = preflight;
  const isUpdate = action === 'update';
  // The service offering; `baseline.serviceId` is the instance's own id.
  const service = knownOr(facts?.service.offering, 'SERVICE_ID', 'service_id, as the instance shows it');
  return [
    stepFor(
      left,
      `${action} ${instance}`,
      [
        ...(isUpdate ? instanceNow(left) : []),
        { do: 'confirm-name', name: instance, what: `This will ${action} ${instance}.` },
        left.calls.change(action, {
          ...(isUpdate ? { body: { service_id: service } } : {}),
          lookFirst: lookWords(facts?.baseline.updatedAt, isIn(left)),
        }),
      ],
      ['Its applications lose their connections meanwhile.'],
    ),
  ];
};

/** Updates are what the run is for, the service does not offer the setting, or a person left it out. */
function mayNotHold(context: RunContext): boolean {
  if (isOpen(context, 'release-updates')) return false;
  const { run, updates, skipped } = context;
  const isLeft = skipped.some(({ step }) => step === 'freeze');
  return run.action === 'update' || updates.changeable?.changeable === false || isLeft;
}

function lookWords(updatedAt: string | undefined, mayBeSent: boolean): string {
  const sign = `the state deploying${updatedAt === undefined ? '' : `, or updated_at other than ${updatedAt}`}`;
  return mayBeSent
    ? `THIS RUN MAY HAVE SENT IT ALREADY: ${sign}, suggests so, unless somebody else is working on the instance.`
    : `It is already under way if the instance shows ${sign}.`;
}

function settingOf({ context: { updates } }: LeftOfRun, allowed: boolean): UpdateSetting {
  return { type: updates.setting?.type ?? 'general', allowed };
}

function setUpdates({ calls }: LeftOfRun, { type, allowed }: UpdateSetting) {
  return calls.change('changeUpdateSetting', {
    body: { allowed_update_time: { fields: { type: { known: type }, allowed: { literal: allowed } } } },
  });
}
