import type { RunContext } from '../../../machines/context.ts';
import { landedOf } from '../../../machines/parts/task-data.ts';
import { LifeboatError } from '../../base/errors.ts';
import { formatBytes, formatSeconds } from '../../base/format.ts';
import { instantOf } from '../../base/instant.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { OpenInstance } from '../../compose/service-of.ts';
import type { Backup, Restore } from '../../service/schemas.ts';
import { askInstance, type InstanceFlags, printAnswer } from './on-instance.ts';
import type { Change } from './planned-change.ts';
import { printFacts, utc } from './print-facts.ts';

export function showBackup(context: CommandContext): NonNullable<Change['show']> {
  return async ({ backup }, instance) => {
    const id = landedOf(backup)?.id;
    if (id === undefined) return;
    const { value, raw } = await instance.service.backup(id);
    await printAnswer(context, 'backup', { instance: instance.name, raw }, () => printBackup(context, value));
  };
}

/** Prints the restore that a change made, whichever of the three calls it was. */
export function showRestore(context: CommandContext): NonNullable<Change['show']> {
  return async ({ restore }, instance) => {
    const id = landedOf(restore)?.id;
    if (id === undefined || id === 0) return;
    const { value, raw } = await instance.service.restore(id);
    await printAnswer(context, 'restore', { instance: instance.name, raw }, () =>
      printRestore(context, value),
    );
  };
}

export function restoreFields({ restore }: RunContext, how: string): ReturnType<Change['done']> {
  const id = landedOf(restore)?.id;
  if (id === undefined || id === 0) return { fields: {}, text: `the restore ${how}` };
  return { fields: { id }, text: `restore ${id} ${how}` };
}

/** Asks for one task. Rejects with `service.not-found`, naming its id, if there is none. */
export function askTask<T extends object>(
  context: CommandContext,
  flags: InstanceFlags,
  what: 'backup' | 'restore',
  id: number,
  ask: (instance: OpenInstance) => Promise<T>,
): Promise<T & { readonly instance: string }> {
  return askInstance(context, flags, async (instance) => {
    try {
      return await ask(instance);
    } catch (thrown) {
      if (!(thrown instanceof LifeboatError) || thrown.code !== 'service.not-found') throw thrown;
      const words = /: (".*")$/.exec(thrown.shortMessage)?.[1];
      const told = words === undefined ? '' : `: ${words}`;
      throw new LifeboatError(
        'service.not-found',
        `the service does not know ${what} ${id} of ${instance.name}${told}`,
        {
          hints: [
            what === 'backup'
              ? `what is there: lifeboat backups list --instance ${instance.name}`
              : `what is there: lifeboat restores list --instance ${instance.name}`,
          ],
          evidence: thrown.evidence,
        },
      );
    }
  });
}

export function printBackup(context: CommandContext, backup: Backup): void {
  printFacts(context, [
    ['id', backup.id],
    ['backup_id', backup.backup_id],
    ['status', backup.status],
    ['size', backup.size === undefined ? undefined : `${formatBytes(backup.size)} (${backup.size} bytes)`],
    ['requested', utc(backup.triggered_at)],
    ['started', utc(backup.started_at)],
    [hasEnded(backup) ? 'finished' : 'last changed', utc(backup.finished_at)],
    ['took', took(backup)],
    ['downloadable', backup.downloadable],
  ]);
}

export function printRestore(context: CommandContext, restore: Restore): void {
  printFacts(context, [
    ['id', restore.id],
    ['of backup', restore.backup_id],
    ['status', restore.status],
    ['data of', utc(restore.metadata?.restored_from)],
    ['requested', utc(restore.triggered_at)],
    [hasEnded(restore) ? 'finished' : 'last changed', utc(restore.finished_at)],
    ['took', took(restore)],
  ]);
}

type Task = Pick<Backup, 'status' | 'triggered_at' | 'finished_at'>;

/**
 * From the request to the end, with the queue. Only for done or failed tasks: `finished_at` is the last
 * change of status, so for a backup deleted later the time of deletion.
 */
export function took(task: Task): string | undefined {
  const [begin, end] = hasEnded(task) ? [instantOf(task.triggered_at), instantOf(task.finished_at)] : [];
  if (begin === undefined || end === undefined || end < begin) return undefined;
  return formatSeconds((end - begin) / 1000);
}

function hasEnded({ status }: Task): boolean {
  return status === 'done' || status === 'failed';
}
