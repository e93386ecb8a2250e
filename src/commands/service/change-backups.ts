import type { RunContext } from '../../../machines/context.ts';
import { landedOf } from '../../../machines/parts/task-data.ts';
import { doneBackups, isUnderWay } from '../../activities/baseline.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { utcTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { Action } from '../../cli/define.ts';
import { idFrom } from '../../cli/numbers.ts';
import type { OpenInstance } from '../../compose/service-of.ts';
import type { Backup } from '../../service/schemas.ts';
import { changeInstance } from './change.ts';
import type { ChangeFlags } from './planned-change.ts';
import { restoreFields, showBackup, showRestore } from './tasks.ts';

/** `lifeboat backups create` (endpoint 3). */
export const backupsCreate: Action<ChangeFlags> = (context, _, flags) =>
  changeInstance(context, flags, ({ instance }) => ({
    single: { change: 'createBackup', setsKey: false },
    weight: 'changes',
    title: () => `ask for a backup of ${instance.name}`,
    warnings: () => ['a queued backup cannot be cancelled, and retention may delete older ones for it'],
    done: ({ backup }) => {
      const id = landedOf(backup)?.id;
      return { fields: id === undefined ? {} : { id }, text: `backup ${id} is queued` };
    },
    show: showBackup(context),
  }));

/** `lifeboat backups restore ID`: replaces the instance's data with one of its own backups (endpoint 7). */
export const backupsRestore: Action<ChangeFlags> = (context, [id = ''], flags) => {
  const backup = idFrom(id, 'the id of a backup');
  return changeInstance(context, flags, async ({ instance }) => {
    await assertRestorable(instance, backup);
    return {
      single: { change: 'restoreBackup', setsKey: false },
      weight: 'destroys',
      backup,
      title: ({ choose }) => `restore backup ${backup} of ${timeOf(choose.backup)} into ${instance.name}`,
      warnings: () => [
        'all data of the instance is replaced; what came after that backup is gone',
        'afterwards every bound application must be unbound, bound again and restaged',
      ],
      done: (run) => restoreFields(run, 'is queued'),
      show: showRestore(context),
    };
  });
};

function timeOf(backup: RunContext['choose']['backup']): string {
  return utcTime(backup?.finishedAt ?? backup?.triggeredAt ?? '-');
}

/** Only a done backup can be restored: rejects others (`usage.backup`, exit 2) before there is a run. */
async function assertRestorable({ service, name }: OpenInstance, id: number): Promise<void> {
  const backups: readonly Backup[] = (await service.backups()).value;
  const done = doneBackups(backups);
  if (done.some((backup) => backup.id === id)) return;
  const listed = backups.find((backup) => backup.id === id);
  const [newest] = done;
  throw new LifeboatError(
    'usage.backup',
    listed === undefined
      ? `the service lists no backup ${id} of ${name}`
      : `backup ${id} of ${name} is ${show(listed.status, 40)}, and only one that is done can be restored`,
    {
      hints: [
        ...(listed !== undefined && isUnderWay(listed)
          ? [`to wait for it: lifeboat backups get ${id} --wait --instance ${name}`]
          : []),
        newest === undefined ? 'it has no backup that is done' : `the newest that is done: ${newest.id}`,
        'nothing was sent',
      ],
      exitCode: EXIT.usage,
    },
  );
}
