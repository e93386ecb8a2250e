import { z } from 'zod';
import { Secret } from '../../secret.ts';
import { keyMark } from '../calls.ts';
import { MIN_KEY_LENGTH } from '../instance.ts';
import { type Endpoint, jsonReply, Refusal } from './endpoint.ts';

/** What a user may change (section 2.3). Other fields are read only or unknown, and ignored. */
const Change = z.object({
  encryption_key: z.string().min(MIN_KEY_LENGTH).optional(),
  min_backup_count: z.int().nonnegative().optional(),
  retention_time: z.int().nonnegative().optional(),
  exclude_from_auto_backup: z.boolean().optional(),
});

/** Section 4.1, endpoints 8 and 9. */
export const backupsConfigEndpoints: readonly Endpoint[] = [
  {
    method: 'GET',
    base: '/v1/instances',
    path: '/backups-config',
    errors: 'v1',
    carryOut: ({ instance }) =>
      jsonReply(200, {
        ...instance.settings,
        min_encryption_key_length: MIN_KEY_LENGTH,
        backup_type: 'standard',
      }),
  },
  {
    method: 'PATCH',
    base: '/v1/instances',
    path: '/backups-config',
    errors: 'v1',
    carryOut: ({ instance, body, record }) => {
      const change = Change.safeParse(body);
      if (!change.success) {
        const [issue] = change.error.issues;
        const field = issue?.path.join('.') ?? '';
        throw new Refusal(
          422,
          'invalidParameters',
          `${field === '' ? 'the body' : field}: ${issue?.message}`,
        );
      }
      const { encryption_key, ...settings } = change.data;
      instance.changeSettings(settings);
      const detail = JSON.parse(JSON.stringify(settings));
      if (encryption_key !== undefined) {
        const key = new Secret(encryption_key);
        instance.setKey(key);
        detail.encryption_key = keyMark(key);
      }
      record(detail);
      return jsonReply(200, { message: 'The backups configuration has been updated.' });
    },
  },
];
