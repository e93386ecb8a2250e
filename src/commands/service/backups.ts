import { EXIT } from '../../base/errors.ts';
import { formatBytes, timeOr } from '../../base/format.ts';
import type { Action } from '../../cli/define.ts';
import { idFrom } from '../../cli/numbers.ts';
import { printTable } from '../../cli/print-result.ts';
import { unreadWords } from '../../service/rows.ts';
import type { Backup } from '../../service/schemas.ts';
import { followTask, type WaitFlags } from './follow.ts';
import { askInstance, type InstanceFlags, printAnswer } from './on-instance.ts';
import { askTask, printBackup, took } from './tasks.ts';

/** `lifeboat backups list`: lists every backup that the service shows, in its order (endpoint 1). */
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

/** `lifeboat backups get ID` (endpoint 2). `--wait` polls until it has ended. */
export const backupsGet: Action<InstanceFlags & WaitFlags> = async (context, [id = ''], flags) => {
  const wanted = idFrom(id, 'the id of a backup');
  const answer = await askTask(context, flags, 'backup', wanted, async (instance) => {
    if (flags.wait) await followTask(context, instance, { what: 'backup', id: wanted }, flags);
    return instance.service.backup(wanted);
  });
  await printAnswer(context, 'backup', answer, () => printBackup(context, answer.value));
  return EXIT.closed;
};
