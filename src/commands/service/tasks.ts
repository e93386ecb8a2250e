import { LifeboatError } from '../../base/errors.ts';
import { formatBytes, formatSeconds } from '../../base/format.ts';
import { instantOf } from '../../base/instant.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { OpenInstance } from '../../compose/service-of.ts';
import type { Backup, Restore } from '../../service/schemas.ts';
import type { Json } from '../../store/journal.ts';
import { askInstance, type InstanceFlags, printAnswer } from './on-instance.ts';
import type { Wait } from './planned-change.ts';
import { printFacts, utc } from './print-facts.ts';

/** `--wait` of a call that made a backup. */
export function followBackup(
  context: CommandContext,
  { service, name }: OpenInstance,
): Wait<'waitForBackup'> {
  return {
    until: ({ id }) => (typeof id === 'number' ? { verb: 'waitForBackup', input: { id } } : undefined),
    command: ({ id }) => `lifeboat backups get ${id} --wait --instance ${name}`,
    show: async ({ id }) => {
      const { value, raw } = await service.backup(Number(id));
      await printAnswer(context, 'backup', { instance: name, raw }, () => printBackup(context, value));
    },
  };
}

/** `--wait` of a call that made a restore, whichever of the three calls it was. */
export function followRestore(
  context: CommandContext,
  { service, name }: OpenInstance,
): Wait<'waitForRestore'> {
  return {
    until: ({ id }) => (typeof id === 'number' ? { verb: 'waitForRestore', input: { id } } : undefined),
    command: ({ id }) => `lifeboat restores get ${id} --wait --instance ${name}`,
    show: async ({ id }) => {
      const { value, raw } = await service.restore(Number(id));
      await printAnswer(context, 'restore', { instance: name, raw }, () => printRestore(context, value));
    },
  };
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

/** The id of a task in an output; undefined if the answer named none. */
export function idOf(id: Json | undefined): number | undefined {
  return typeof id === 'number' ? id : undefined;
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
 * From the request to the end, including the time in the queue. Only for a task that is done or has failed:
 * `finished_at` is when the status last changed, so for a backup that was deleted later it is the time of the
 * deletion.
 */
export function took(task: Task): string | undefined {
  const [begin, end] = hasEnded(task) ? [instantOf(task.triggered_at), instantOf(task.finished_at)] : [];
  if (begin === undefined || end === undefined || end < begin) return undefined;
  return formatSeconds((end - begin) / 1000);
}

function hasEnded({ status }: Task): boolean {
  return status === 'done' || status === 'failed';
}
