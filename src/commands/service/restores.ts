import { EXIT } from '../../base/errors.ts';
import { timeOr } from '../../base/format.ts';
import type { Action } from '../../cli/define.ts';
import { idFrom } from '../../cli/numbers.ts';
import { printTable } from '../../cli/print-result.ts';
import { unreadWords } from '../../service/rows.ts';
import type { Restore } from '../../service/schemas.ts';
import { followTask, type WaitFlags } from './follow.ts';
import { askInstance, type InstanceFlags, printAnswer } from './on-instance.ts';
import { askTask, printRestore } from './tasks.ts';

/** `lifeboat restores list`: lists every restore that the service shows, in its order (endpoint 5). */
export const restoresList: Action<InstanceFlags> = async (context, _, flags) => {
  const answer = await askInstance(context, flags, ({ service }) => service.restores());
  await printAnswer(context, 'restores', answer, () => {
    if (answer.value.length === 0 && answer.unread === undefined)
      context.stderr.write('there are no restores\n');
    else printTable(context, COLUMNS, answer.value.map(rowOf));
  });
  for (const line of unreadWords('restore', answer.unread)) context.stderr.write(`warning: ${line}\n`);
  return EXIT.closed;
};

function rowOf(restore: Restore): string[] {
  return [
    String(restore.id),
    restore.backup_id === undefined ? '-' : String(restore.backup_id),
    restore.status,
    timeOr(restore.metadata?.restored_from),
    timeOr(restore.triggered_at),
    timeOr(restore.finished_at),
  ];
}

const COLUMNS = [
  { title: 'id', align: 'right' as const },
  { title: 'backup', align: 'right' as const },
  { title: 'status' },
  { title: 'data of (UTC)' },
  { title: 'requested (UTC)' },
  { title: 'finished (UTC)' },
];

/** `lifeboat restores get ID` (endpoint 6). `--wait` polls until it has ended. */
export const restoresGet: Action<InstanceFlags & WaitFlags> = async (context, [id = ''], flags) => {
  const wanted = idFrom(id, 'the id of a restore');
  const answer = await askTask(context, flags, 'restore', wanted, async (instance) => {
    if (flags.wait) await followTask(context, instance, { what: 'restore', id: wanted }, flags);
    return instance.service.restore(wanted);
  });
  await printAnswer(context, 'restore', answer, () => printRestore(context, answer.value));
  return EXIT.closed;
};
