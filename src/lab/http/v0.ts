import * as z from 'zod';
import type { Task } from '../manager/task-queue.ts';
import { findBackup } from './backups.ts';
import { type Endpoint, jsonEndpoint, Refusal } from './endpoint.ts';
import { Restore, Started, V0Listing } from './wire.ts';

const TASK = {
  id: 2901,
  task_id: 2811,
  status: 'done',
  created_at: '2017-06-29T00:30:03.857Z',
  updated_at: '2017-06-29T00:31:04.015Z',
};

/** Section 4.4. V0 names no difference between the revisions, and no 409. */
export const v0Endpoints: readonly Endpoint[] = [
  jsonEndpoint({
    method: 'GET',
    base: '/service-instances',
    path: '/backups',
    name: 'listBackupsV0',
    summary: 'Lists the backups and restores of the instance, newest first.',
    result: V0Listing,
    answers: { 61: 200, 62: 200 },
    examples: {
      answer: {
        id: 85,
        instance_id: 'f131e47d-0a1c-4a0e-9a3b-6a0b6d6c3f10',
        backups: [{ id: 2811, instance_id: 85, backup_agent_task: TASK }],
        restores: [],
      },
    },
    work: ({ instance }) => ({
      id: instance.id,
      instance_id: instance.guid,
      backups: instance.backups.all.map(({ id, task }) => ({
        id,
        instance_id: instance.id,
        backup_agent_task: describeTask(task, id),
      })),
      restores: instance.restores.all.map(({ id, task }) => ({
        id,
        instance_id: instance.id,
        backup_agent_tasks: [describeTask(task, id)],
      })),
    }),
  }),
  jsonEndpoint({
    method: 'POST',
    base: '/service-instances',
    path: '/backups',
    name: 'createBackupV0',
    summary: 'Queues a backup.',
    startsTask: true,
    result: Started,
    answers: { 61: 201, 62: 201 },
    examples: { answer: { id: 2812, message: 'The backup has been scheduled.' } },
    work: ({ instance, outcome, record }) => {
      const { backup } = instance.triggerBackup(outcome);
      record({ backup: backup.id });
      return { id: backup.id, message: 'The backup has been scheduled.' };
    },
  }),
  jsonEndpoint({
    method: 'POST',
    base: '/service-instances',
    path: '/backups/restore',
    name: 'restoreBackupV0',
    summary: 'Queues the restore of a backup of the instance into it; locks bound applications out.',
    startsTask: true,
    result: z.object({ restore_id: Restore.shape.id }),
    answers: { 61: 200, 62: 200 },
    unknownInstance: 412,
    invalid: 412,
    body: z.object({
      instance_id: z.int().describe('Internal instance id, as the listing shows it'),
      backup_id: z.int().describe('Internal id of the backup'),
    }),
    examples: { request: { instance_id: 85, backup_id: 2811 }, answer: { restore_id: 12 } },
    work: ({ instance, body, outcome, record }) => {
      const backup = findBackup(instance, String(body.backup_id));
      if (body.instance_id !== instance.id || backup === undefined || backup.task.status === 'deleted') {
        throw new Refusal(412, 'preconditionFailed', 'instance_id or backup_id does not exist or match');
      }
      const restore = instance.restore(backup, outcome);
      record({ restore: restore.id, backup: backup.id });
      return { restore_id: restore.id };
    },
  }),
];

function describeTask({ id, status, triggeredAt, changedAt }: Task, taskId: number) {
  return {
    id,
    task_id: taskId,
    status,
    created_at: triggeredAt.toISOString(),
    updated_at: changedAt.toISOString(),
  };
}
