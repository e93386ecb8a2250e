import { EXIT } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import { idFrom } from '../../cli/numbers.ts';
import { printJson } from '../../cli/print-json.ts';
import { printTable } from '../../cli/print-table.ts';
import { followReading, type WaitFlags } from './follow.ts';
import { type InstanceFlags, onInstance } from './on-instance.ts';
import { followRestore, printRestore, timeOr } from './tasks.ts';

/** `lifeboat restores list`: every restore that the service shows, in its order (endpoint 5). */
export async function restoresList(
  context: CommandContext,
  _: readonly string[],
  flags: InstanceFlags,
): Promise<number> {
  const { value, raw } = await onInstance(context, flags, ({ service }) => service.restores());
  if (flags.json) printJson(context, raw);
  else if (value.length === 0) context.stderr.write('there are no restores\n');
  else
    printTable(
      context,
      COLUMNS,
      value.map((restore) => [
        String(restore.id),
        restore.backup_id === undefined ? '-' : String(restore.backup_id),
        restore.status,
        timeOr(restore.metadata?.restored_from),
        timeOr(restore.triggered_at),
        timeOr(restore.finished_at),
      ]),
    );
  return EXIT.closed;
}

const COLUMNS = [
  { title: 'id', align: 'right' as const },
  { title: 'backup', align: 'right' as const },
  { title: 'status' },
  { title: 'data of (UTC)' },
  { title: 'asked for (UTC)' },
  { title: 'finished (UTC)' },
];

/** `lifeboat restores get ID` (endpoint 6). `--wait` looks until it has ended. */
export async function restoresGet(
  context: CommandContext,
  [id = '']: readonly string[],
  flags: InstanceFlags & WaitFlags,
): Promise<number> {
  const wanted = idFrom(id, 'the id of a restore');
  const { value, raw } = await onInstance(context, flags, async (instance) => {
    const wait = followRestore(context, instance);
    if (flags.wait) await followReading(context, instance, wait, { id: wanted }, flags);
    return instance.service.restore(wanted);
  });
  if (flags.json) printJson(context, raw);
  else printRestore(context, value);
  return EXIT.closed;
}
