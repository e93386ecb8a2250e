import * as z from 'zod';
import { Secret } from '../../base/secret.ts';
import { keyMark, MIN_KEY_LENGTH } from '../key-ring.ts';
import { type Endpoint, jsonEndpoint } from './endpoint.ts';
import { Accepted, BackupsConfig } from './wire.ts';

export const EncryptionKey = z
  .string()
  .min(MIN_KEY_LENGTH)
  .describe('Write only: replaces the key, for backups from now on');

/** The settings that a user may change (section 2.3). Other fields are read-only or unknown, and ignored. */
const Change = z.object({
  encryption_key: EncryptionKey.optional(),
  min_backup_count: z.int().nonnegative().optional(),
  retention_time: z.int().nonnegative().optional(),
  exclude_from_auto_backup: z.boolean().optional(),
});

/** Section 4.1, endpoints 8 and 9. */
export const backupsConfigEndpoints: readonly Endpoint[] = [
  jsonEndpoint({
    method: 'GET',
    path: '/backups-config',
    name: 'getBackupsConfig',
    summary: 'Shows how the instance is backed up; never the key.',
    result: BackupsConfig,
    answers: { 61: 200, 62: 200 },
    work: ({ instance }) => ({
      ...instance.settings,
      min_encryption_key_length: MIN_KEY_LENGTH,
      backup_type: instance.backupType,
    }),
  }),
  jsonEndpoint({
    method: 'PATCH',
    path: '/backups-config',
    name: 'updateBackupsConfig',
    summary: 'Changes the settings that are given; a new key is not applied to earlier backups.',
    result: Accepted,
    answers: { 61: 200, 62: 200 },
    body: Change,
    examples: { request: { min_backup_count: 5, retention_time: 30 } },
    work: ({ instance, body: { encryption_key, ...settings }, record }) => {
      instance.changeSettings(settings);
      const detail: Record<string, string | number | boolean> = {};
      for (const [name, value] of Object.entries(settings)) if (value !== undefined) detail[name] = value;
      if (encryption_key !== undefined) {
        const key = new Secret(encryption_key);
        instance.setKey(key);
        detail['encryption_key'] = keyMark(key);
      }
      record(detail);
      return { message: 'The backups configuration has been updated.' };
    },
  }),
];
