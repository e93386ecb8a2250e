import { doneBackups, isUnderWay } from '../../activities/baseline.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { formatBytes, timeOr, utcTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { Action } from '../../cli/define.ts';
import { idFrom } from '../../cli/numbers.ts';
import { printTable } from '../../cli/print-result.ts';
import { unreadWords } from '../../service/rows.ts';
import type { Backup } from '../../service/schemas.ts';
import { changeInstance } from './change.ts';
import { followReading, type WaitFlags } from './follow.ts';
import { lookInPlace } from './look-first.ts';
import { askInstance, type InstanceFlags, printAnswer } from './on-instance.ts';
import type { ChangeFlags } from './planned-change.ts';
import { askTask, followBackup, followRestore, idOf, printBackup, took } from './tasks.ts';

/** `lifeboat backups list`: every backup that the service shows, in its order (endpoint 1). */
export const backupsList: Action<InstanceFlags> = async (context, _, flags) => {
  const answer = await askInstance(context, flags, ({ service }) => service.backups());
  await printAnswer(context, 'backups', answer, () => {
    if (answer.value.length === 0 && answer.unread === undefined)
      context.stderr.write('there are no backups\n');
    else printTable(context, COLUMNS, answer.value.map(rowOf));
  });
  for (const line of unreadWords('backup', answer.unread)) context.stderr.write(`warning: ${line}\n`);
  return EXIT.closed;
};

const COLUMNS = [
  { title: 'id', align: 'right' as const },
  { title: 'status' },
  { title: 'size', align: 'right' as const },
  { title: 'requested (UTC)' },
  { title: 'took' },
  { title: 'download' },
  { title: 'backup_id', gives: true },
];

function rowOf(backup: Backup): string[] {
  return [
    String(backup.id),
    backup.status,
    backup.size === undefined ? '-' : formatBytes(backup.size),
    timeOr(backup.triggered_at),
    took(backup) ?? '-',
    backup.downloadable === undefined ? '-' : backup.downloadable ? 'yes' : 'no',
    backup.backup_id ?? '-',
  ];
}

/** `lifeboat backups get ID` (endpoint 2). `--wait` looks until it has ended. */
export const backupsGet: Action<InstanceFlags & WaitFlags> = async (context, [id = ''], flags) => {
  const wanted = idFrom(id, 'the id of a backup');
  const answer = await askTask(context, flags, 'backup', wanted, async (instance) => {
    const wait = followBackup(context, instance);
    if (flags.wait) await followReading(context, instance, wait, { id: wanted }, flags);
    return instance.service.backup(wanted);
  });
  await printAnswer(context, 'backup', answer, () => printBackup(context, answer.value));
  return EXIT.closed;
};

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

/** `lifeboat backups restore ID`: replaces the instance's data by one of its own backups (endpoint 7). */
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

/** The backup with this id, as far as a run would offer it: only one that is done can be restored. */
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
