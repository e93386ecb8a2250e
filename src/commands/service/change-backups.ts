import { doneBackups, isUnderWay } from '../../activities/baseline.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { utcTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { Action } from '../../cli/define.ts';
import { idFrom } from '../../cli/numbers.ts';
import type { Backup } from '../../service/schemas.ts';
import { changeInstance } from './change.ts';
import { lookInPlace } from './look-first.ts';
import type { ChangeFlags } from './planned-change.ts';
import { followBackup, followRestore, idOf } from './tasks.ts';

/** `lifeboat backups create` (endpoint 3). */
export const backupsCreate: Action<ChangeFlags> = (context, _, flags) =>
  changeInstance(
    context,
    flags,
    { weight: 'changes', verb: 'createBackup', look: lookInPlace({ tolerant: false }) },
    async ({ instance }) => ({
      title: `ask for a backup of ${instance.name}`,
      warnings: ['a queued backup cannot be cancelled, and retention may delete older ones for it'],
      act: (perform) => perform({ verb: 'createBackup', input: {} }),
      done: ({ id }) => ({ fields: { id: idOf(id) }, text: `backup ${id} is queued` }),
      wait: followBackup(context, instance),
    }),
  );

/** `lifeboat backups restore ID`: replaces the instance's data with one of its own backups (endpoint 7). */
export const backupsRestore: Action<ChangeFlags> = (context, [id = ''], flags) => {
  const backup = idFrom(id, 'the id of a backup');
  return changeInstance(
    context,
    flags,
    {
      weight: 'destroys',
      verb: 'restoreBackup',
      look: async (scene) => {
        const seen = await lookInPlace({ tolerant: true, restores: true })(scene);
        return { ...seen, chosen: doneBackup(seen.seen.backups, backup, scene.instance.name) };
      },
    },
    async ({ instance }, { chosen }) => {
      return {
        title:
          `restore backup ${backup} of ${utcTime(chosen.finished_at ?? chosen.triggered_at ?? '-')} ` +
          `into ${instance.name}`,
        warnings: [
          'all data of the instance is replaced; what came after that backup is gone',
          'afterwards every bound application must be unbound, bound again and restaged',
        ],
        act: (perform) => perform({ verb: 'restoreBackup', input: { backup } }),
        done: ({ id: restore }) => ({ fields: { id: idOf(restore) }, text: `restore ${restore} is queued` }),
        wait: followRestore(context, instance),
      };
    },
  );
};

/** The backup with this id, if a run would offer it: only one that is done can be restored. */
function doneBackup(backups: readonly Backup[], id: number, instance: string): Backup {
  const done = doneBackups(backups);
  const found = done.find((backup) => backup.id === id);
  if (found !== undefined) return found;
  const listed = backups.find((backup) => backup.id === id);
  const [newest] = done;
  throw new LifeboatError(
    'usage.backup',
    listed === undefined
      ? `the service lists no backup ${id} of ${instance}`
      : `backup ${id} of ${instance} is ${show(listed.status, 40)}, and only one that is done can be restored`,
    {
      hints: [
        ...(listed !== undefined && isUnderWay(listed)
          ? [`to wait for it: lifeboat backups get ${id} --wait --instance ${instance}`]
          : []),
        newest === undefined ? 'it has no backup that is done' : `the newest that is done: ${newest.id}`,
        'nothing was sent',
      ],
      exitCode: EXIT.usage,
    },
  );
}
