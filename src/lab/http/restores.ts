import * as z from 'zod';
import { Secret } from '../../base/secret.ts';
import { keyMark, type LabInstance } from '../instance.ts';
import type { LabState } from '../lab-state.ts';
import { backupNamed, describeRestore, EncryptionKey } from './backups.ts';
import { type Endpoint, jsonEndpoint, Refusal } from './endpoint.ts';
import { Moment, PitrRange, Restore } from './wire.ts';

const EXAMPLE = {
  id: 2,
  backup_id: 1,
  metadata: { restored_from: '2021-04-21T15:32:10.332Z' },
  status: 'done',
  triggered_at: '2021-04-21T15:34:12.295Z',
  finished_at: '2021-04-21T15:34:14.322Z',
};

const TaskStatus = Restore.shape.status;

/** Section 4.1, endpoints 5 to 7, 17 and 18. */
export const restoreEndpoints: readonly Endpoint[] = [
  jsonEndpoint({
    method: 'GET',
    path: '/restores',
    name: 'listRestores',
    summary: 'Lists the restores into the instance, newest first.',
    result: z.array(Restore),
    answers: { 61: 200, 62: 200 },
    examples: { answer: [EXAMPLE] },
    work: ({ instance }) => instance.restores.all.map(describeRestore),
  }),
  jsonEndpoint({
    method: 'GET',
    path: '/restores/:id',
    name: 'getRestore',
    summary: 'Shows one restore.',
    result: Restore,
    answers: { 61: 200, 62: 200 },
    examples: { answer: EXAMPLE },
    work: ({ instance, params }) => {
      const restore = instance.restores.all.find(({ id }) => String(id) === params['id']);
      if (restore === undefined) throw new Refusal(404, 'restoreNotFound', 'the restore does not exist');
      return describeRestore(restore);
    },
  }),
  jsonEndpoint({
    method: 'POST',
    path: '/backups/:id/restore',
    name: 'restoreBackup',
    summary: 'Queues the restore of a backup of the instance into it; locks bound applications out.',
    startsTask: true,
    result: z.object({ id: Restore.shape.id }),
    answers: { 61: 202, 62: 200 },
    refuses: { 61: [409] },
    examples: { answer: { id: 2 } },
    work: ({ instance, params, state, outcome, record }) => {
      const backup = backupNamed(instance, params['id']);
      if (backup.task.status === 'deleted')
        throw new Refusal(404, 'backupNotFound', 'the backup was deleted');
      assertFirstRestore(state, instance);
      const restore = instance.restore(backup, outcome);
      record({ restore: restore.id, backup: backup.id });
      return { id: restore.id };
    },
  }),
  jsonEndpoint({
    method: 'GET',
    path: '/pitr',
    name: 'getPitrRange',
    summary: 'Shows the range of times that the instance can be restored to.',
    result: PitrRange,
    // Section 4.1 rule 5: revision 62 lists 202 and no 200.
    answers: { 61: 200, 62: 202 },
    examples: { answer: { start_time: '2022-02-01T20:53:20.000Z', end_time: '2022-02-02T11:45:37.601Z' } },
    work: async ({ instance }) => {
      const { start, end } = await rangeOf(instance);
      return { start_time: start.toISOString(), end_time: end.toISOString() };
    },
  }),
  jsonEndpoint({
    method: 'POST',
    path: '/pitr/restore',
    name: 'restoreToTime',
    summary: 'Queues the restore of the instance to a point in time; locks bound applications out.',
    startsTask: true,
    result: z.object({ status: TaskStatus }),
    answers: { 62: 202 },
    body: z.object({ target_time: Moment }),
    examples: { request: { target_time: '2022-02-02T11:00:00.000Z' }, answer: { status: 'queued' } },
    work: async ({ instance, body, outcome, record }) => {
      const { start, end } = await rangeOf(instance);
      const time = body.target_time;
      if (!(start <= time && time <= end)) {
        const why = `target_time: not from ${start.toISOString()} to ${end.toISOString()}`;
        throw new Refusal(422, 'invalidParameters', why);
      }
      const restore = instance.restoreTo(time, outcome);
      record({ restore: restore.id, target_time: time.toISOString() });
      return { status: restore.task.status };
    },
  }),
];

/** Revision 61 answers 409 while a restore is in progress; revision 62 queues another one. */
function assertFirstRestore(state: LabState, instance: LabInstance): void {
  if (state.revision === 61 && instance.restores.isBusy) {
    throw new Refusal(409, 'restoreInProgress', 'a restore of this instance is already in progress');
  }
}

/** Rule 4: nothing without continuous archiving, nor before a first base backup. */
async function rangeOf(instance: LabInstance) {
  if (!instance.data.archiving) {
    throw new Refusal(404, 'continuousArchivingDisabled', 'the instance has no continuous archiving');
  }
  const range = await instance.pitrRange().catch((cause: unknown) => {
    throw new Refusal(502, 'upstreamError', `the archive cannot be read: ${String(cause)}`);
  });
  if (range === undefined) {
    throw new Refusal(
      404,
      'noRecoveryPoint',
      'no point in time can be restored to: there is no backup of the data that it has now',
    );
  }
  return range;
}

/** Section 4.1, endpoints 10 and 11. */
export const disasterRecoveryEndpoints: readonly Endpoint[] = [
  jsonEndpoint({
    method: 'POST',
    path: '/disaster-recovery/prepare',
    name: 'prepareRecovery',
    summary: 'Gives the GUID that finds the backups of the instance; with a key, also sets that key.',
    result: z.object({ backup_guid: z.guid() }),
    answers: { 61: 202, 62: 200 },
    // Everything in it is optional, and so is the body.
    body: z.object({ encryption_key: EncryptionKey.optional() }).optional(),
    examples: { request: {}, answer: { backup_guid: '3a2e59ee-40cb-472a-91d0-502ab259918c' } },
    work: ({ instance, body, record }) => {
      const key = body?.encryption_key === undefined ? undefined : new Secret(body.encryption_key);
      if (key !== undefined) instance.setKey(key);
      record({
        backup_guid: instance.backupGuid,
        ...(key === undefined ? {} : { encryption_key: keyMark(key) }),
      });
      return { backup_guid: instance.backupGuid };
    },
  }),
  jsonEndpoint({
    method: 'POST',
    path: '/disaster-recovery/perform',
    name: 'performRecovery',
    summary:
      "Queues the restore of an instance's newest backup, or of one backup; locks bound applications out.",
    startsTask: true,
    result: z.object({ restore_id: Restore.shape.id }),
    answers: { 61: 202, 62: 200 },
    refuses: { 61: [409] },
    body: z.object({
      backup_guid: z.string().min(1).describe('The GUID that prepare gave, or the backup_id of one backup'),
      encryption_key: z.string().min(1),
    }),
    examples: {
      request: { backup_guid: '3a2e59ee-40cb-472a-91d0-502ab259918c', encryption_key: '<ENCRYPTION_KEY>' },
      answer: { restore_id: 1 },
    },
    work: ({ instance, body, state, outcome, record }) => {
      const find = state.backupsBehind(body.backup_guid);
      if (find === undefined) {
        throw new Refusal(404, 'backupGuidNotFound', 'no backups are known under this backup_guid');
      }
      assertFirstRestore(state, instance);
      const key = new Secret(body.encryption_key);
      const restore = instance.recover(find, key, outcome);
      record({ restore: restore.id, backup_guid: body.backup_guid, encryption_key: keyMark(key) });
      return { restore_id: restore.id };
    },
  }),
];
