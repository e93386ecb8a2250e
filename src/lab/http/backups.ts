import type { LabBackup, LabInstance } from '../instance.ts';
import { type Endpoint, jsonReply, Refusal, type Revision } from './endpoint.ts';

/** Section 4.1, endpoints 1 to 3, and their differences in revision 61 (4.2). */
export const backupEndpoints: readonly Endpoint[] = [
  {
    method: 'GET',
    base: '/v1/instances',
    path: '/backups',
    errors: 'v1',
    carryOut: ({ instance, revision }) => {
      const describe = (backup: LabBackup) => describeBackup(instance, backup, revision);
      return jsonReply(
        200,
        instance.backups.map((backup) => ({ backup_id: backup.backupId, ...describe(backup) })),
      );
    },
  },
  {
    method: 'GET',
    base: '/v1/instances',
    path: '/backups/:id',
    errors: 'v1',
    carryOut: ({ instance, params, revision }) => {
      const backup = findBackup(instance, params['id']);
      if (backup === undefined) throw new Refusal(404, 'backupNotFound', 'the backup does not exist');
      const only61 = revision === 61 ? { backup_id: backup.backupId } : {};
      return jsonReply(200, { ...only61, ...describeBackup(instance, backup, revision) });
    },
  },
  {
    method: 'POST',
    base: '/v1/instances',
    path: '/backups',
    errors: 'v1',
    startsTask: true,
    carryOut: ({ instance, revision, fate, record }) => {
      // Only revision 61 knows 409; revision 62 queues a second backup, so a call that is sent twice shows.
      if (revision === 61 && instance.isBackingUp) {
        throw new Refusal(409, 'backupInProgress', 'a backup of this instance is already in progress');
      }
      const { backup } = instance.triggerBackup(fate);
      record({ backup: backup.id });
      const status = revision === 61 ? 202 : 200;
      return jsonReply(status, { id: backup.id, message: 'The backup job is queued.' });
    },
  },
];

/** Ids are whole numbers without sign or leading zeros. */
export function findBackup(instance: LabInstance, id: string | undefined): LabBackup | undefined {
  return instance.backups.find((backup) => String(backup.id) === id);
}

function describeBackup(instance: LabInstance, backup: LabBackup, revision: Revision) {
  const { task } = backup;
  return {
    id: backup.id,
    size: backup.size,
    status: task.status,
    triggered_at: task.triggeredAt.toISOString(),
    ...(revision === 61 ? { started_at: task.startedAt?.toISOString() ?? null } : {}),
    finished_at: task.changedAt.toISOString(),
    downloadable: instance.isDownloadable(backup),
  };
}
