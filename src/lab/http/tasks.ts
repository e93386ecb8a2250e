import type { z } from 'zod';
import type { LabInstance } from '../instance.ts';
import type { LabBackup } from '../manager/instance-backups.ts';
import type { LabRestore } from '../manager/instance-restores.ts';
import type { Task } from '../manager/task-queue.ts';
import { Refusal } from './endpoint.ts';
import type { Backup, Restore } from './wire.ts';

/** The backup that a path names, or a refusal. Ids are whole numbers without sign or leading zeros. */
export function backupNamed(instance: LabInstance, id: string | undefined): LabBackup {
  const backup = findBackup(instance, id);
  if (backup === undefined) throw new Refusal(404, 'backupNotFound', 'the backup does not exist');
  return backup;
}

export function findBackup(instance: LabInstance, id: string | undefined): LabBackup | undefined {
  return instance.backups.find((backup) => String(backup.id) === id);
}

/** All that any revision says of a backup. */
export function describeBackup(instance: LabInstance, backup: LabBackup): z.input<typeof Backup> {
  const { task } = backup;
  return {
    id: backup.id,
    backup_id: backup.backupId,
    size: backup.size,
    ...timesOf(task),
    started_at: task.startedAt?.toISOString() ?? null,
    downloadable: instance.isDownloadable(backup),
  };
}

export function describeRestore({ id, task, backup, pointInTime }: LabRestore): z.input<typeof Restore> {
  const from = pointInTime ?? backup?.task.triggeredAt;
  return {
    id,
    backup_id: backup?.id ?? null,
    ...timesOf(task),
    metadata: { restored_from: from?.toISOString() ?? null },
  };
}

function timesOf({ status, triggeredAt, changedAt }: Task) {
  return { status, triggered_at: triggeredAt.toISOString(), finished_at: changedAt.toISOString() };
}
