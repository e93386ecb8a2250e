import { z } from 'zod';
import { Secret } from '../../base/secret.ts';
import { keyMark } from '../calls.ts';
import { EncryptionKey } from './backups-config.ts';
import { type Endpoint, jsonEndpoint, Refusal } from './endpoint.ts';
import { refuseSecondRestore } from './restores.ts';
import { Restore } from './wire.ts';

/** Section 4.1, endpoints 10 and 11. */
export const disasterRecoveryEndpoints: readonly Endpoint[] = [
  jsonEndpoint({
    method: 'POST',
    base: '/v1/instances',
    path: '/disaster-recovery/prepare',
    name: 'prepareRecovery',
    summary: 'Gives the GUID that finds the backups of the instance; with a key, also sets that key.',
    result: z.object({ backup_guid: z.guid() }),
    answers: { 61: { status: 202 }, 62: { status: 200 } },
    // All of it is optional, and so is the body itself.
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
    base: '/v1/instances',
    path: '/disaster-recovery/perform',
    name: 'performRecovery',
    summary:
      "Queues the restore of an instance's newest backup, or of one backup; locks bound applications out.",
    startsTask: true,
    result: z.object({ restore_id: Restore.shape.id }),
    answers: { 61: { status: 202 }, 62: { status: 200 } },
    refuses: { 61: [409] },
    body: z.object({
      backup_guid: z.string().min(1).describe('The GUID that prepare gave, or the backup_id of one backup'),
      encryption_key: z.string().min(1),
    }),
    examples: {
      request: {
        backup_guid: '3a2e59ee-40cb-472a-91d0-502ab259918c',
        encryption_key: '<ENCRYPTION_KEY>',
      },
      answer: { restore_id: 1 },
    },
    work: ({ instance, body, state, outcome, record }) => {
      const find = state.backupsBehind(body.backup_guid);
      if (find === undefined) {
        throw new Refusal(404, 'backupGuidNotFound', 'no backups are known under this backup_guid');
      }
      refuseSecondRestore(state, instance);
      const key = new Secret(body.encryption_key);
      const restore = instance.recover(find, key, outcome);
      record({ restore: restore.id, backup_guid: body.backup_guid, encryption_key: keyMark(key) });
      return { restore_id: restore.id };
    },
  }),
];
