import * as z from 'zod';
import { Secret } from '../../base/secret.ts';
import { keyMark, type LabInstance, MIN_KEY_LENGTH } from '../instance.ts';
import type { DownloadRule, LabBackup, LabRestore } from '../manager/instance-backups.ts';
import type { Task } from '../manager/task-queue.ts';
import { type Endpoint, jsonEndpoint, Refusal, type Reply, type Request } from './endpoint.ts';
import { Accepted, Backup, Backup62, BackupsConfig, ListedBackup62, type Restore, Started } from './wire.ts';

const EXAMPLE = {
  id: 2,
  backup_id: '8377f207-21b4-48fd-a75b-78c1bcdef8ca-1742693407644',
  size: 2792,
  status: 'done',
  triggered_at: '2021-04-21T01:30:03.832Z',
  started_at: '2021-04-21T01:30:04.832Z',
  finished_at: '2021-04-21T01:30:32.163Z',
  downloadable: true,
};

/** Section 4.1, endpoints 1 to 3, and their differences in revision 61 (4.2). */
export const backupEndpoints: readonly Endpoint[] = [
  jsonEndpoint({
    method: 'GET',
    path: '/backups',
    name: 'listBackups',
    summary: 'Lists the backups of the instance, newest first.',
    result: z.array(Backup),
    answers: { 61: 200, 62: { status: 200, body: z.array(ListedBackup62) } },
    examples: { answer: [EXAMPLE] },
    work: ({ instance, state }) =>
      instance.backups.all.map((backup) => describeBackup(instance, backup, state.settings.downloads)),
  }),
  jsonEndpoint({
    method: 'GET',
    path: '/backups/:id',
    name: 'getBackup',
    summary: 'Shows one backup.',
    result: Backup,
    answers: { 61: 200, 62: { status: 200, body: Backup62 } },
    examples: { answer: EXAMPLE },
    work: ({ instance, params, state }) =>
      describeBackup(instance, backupNamed(instance, params['id']), state.settings.downloads),
  }),
  jsonEndpoint({
    method: 'POST',
    path: '/backups',
    name: 'createBackup',
    summary: 'Queues a backup.',
    startsTask: true,
    result: Started,
    answers: { 61: 202, 62: 200 },
    refuses: { 61: [409] },
    examples: { answer: { id: 3, message: 'The backup job is queued.' } },
    work: ({ instance, state, outcome, record }) => {
      // Only revision 61 knows 409; revision 62 queues a second backup, so a call that is sent twice shows.
      if (state.revision === 61 && instance.backups.isBusy) {
        throw new Refusal(409, 'backupInProgress', 'a backup of this instance is already in progress');
      }
      const { backup } = instance.triggerBackup(outcome);
      record({ backup: backup.id });
      return { id: backup.id, message: 'The backup job is queued.' };
    },
  }),
];

/** Ids are whole numbers without sign or leading zeros. Throws if there is none. */
export function backupNamed(instance: LabInstance, id: string | undefined): LabBackup {
  const backup = findBackup(instance, id);
  if (backup === undefined) throw new Refusal(404, 'backupNotFound', 'the backup does not exist');
  return backup;
}

export function findBackup(instance: LabInstance, id: string | undefined): LabBackup | undefined {
  return instance.backups.all.find((backup) => String(backup.id) === id);
}

function describeBackup(
  instance: LabInstance,
  backup: LabBackup,
  rule: DownloadRule,
): z.input<typeof Backup> {
  const { task } = backup;
  return {
    id: backup.id,
    backup_id: backup.backupId,
    size: backup.size,
    ...timesOf(task),
    started_at: task.startedAt?.toISOString() ?? null,
    downloadable: instance.isDownloadable(backup, rule),
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

export const EncryptionKey = z
  .string()
  .min(MIN_KEY_LENGTH)
  .describe('Write only: replaces the key, for backups from now on');

/** Those that a user may change (section 2.3). Other fields are read-only or unknown, and ignored. */
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

const FILE = { status: 200 };

/** Section 4.3: revision 61 downloads below V1, 62 below the dashboard address; V0 has both methods. */
export const downloadEndpoints: readonly Endpoint[] = [
  downloadEndpoint({
    method: 'GET',
    base: '/v1/instances',
    path: '/backups/:id/download',
    name: 'downloadBackup',
    errors: 'v1-download',
    answers: { 61: FILE },
  }),
  downloadEndpoint({
    method: 'GET',
    base: '/service-instances',
    path: '/backups/:id/download',
    name: 'downloadBackupV0',
    errors: 'v0',
    answers: { 61: FILE, 62: FILE },
  }),
  downloadEndpoint({
    method: 'POST',
    base: '/service-instances',
    path: '/backups/:id/download',
    name: 'downloadBackupByPost',
    errors: 'v0',
    answers: { 61: FILE, 62: FILE },
  }),
];

function downloadEndpoint(
  place: Pick<Endpoint, 'method' | 'base' | 'path' | 'name' | 'errors' | 'answers'>,
): Endpoint {
  return {
    ...place,
    summary: 'Gives the encrypted and compressed backup, or the range of its bytes that is asked for.',
    streams: true,
    unknownInstance: 412,
    refuses: { 61: [416], 62: [416] },
    carryOut: async (request) => download(request),
  };
}

function download({ instance, state, params, range, ifRange }: Request): Reply {
  const backup = findBackup(instance, params['id'] ?? params['backup_id']);
  if (backup === undefined || !instance.isDownloadable(backup, state.settings.downloads)) {
    throw new Refusal(412, 'preconditionFailed', 'the backup does not exist or cannot be downloaded');
  }
  const { size } = backup;
  const etag = `"${backup.backupId}"`;
  const isSame = ifRange === undefined || ifRange === etag;
  const part = isSame ? rangeIn(range, size) : undefined;
  if (part === 'beyond') {
    const headers = { 'content-range': `bytes */${size}` };
    throw new Refusal(416, 'rangeNotSatisfiable', 'the backup has fewer bytes', headers);
  }
  const { start, end } = part ?? { start: 0, end: size };
  return {
    kind: 'file',
    status: part === undefined ? 200 : 206,
    size: end - start,
    headers: {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="${backup.backupId}.tgz"`,
      'accept-ranges': 'bytes',
      etag,
      ...(part === undefined ? {} : { 'content-range': `bytes ${start}-${end - 1}/${size}` }),
    },
    open: (length) => instance.backups.read(backup, start, start + length),
  };
}

/**
 * The part of `size` bytes of a `Range` field (RFC 9110, 14.1.2): from `start` to before `end`; `beyond` if
 * outside (416); undefined where the whole is the answer: no field, another unit, malformed or several.
 */
export function rangeIn(
  field: string | undefined,
  size: number,
): { readonly start: number; readonly end: number } | 'beyond' | undefined {
  const parts = /^bytes=\s*(?<first>\d*)-(?<last>\d*)\s*$/iu.exec(field ?? '')?.groups;
  if (parts === undefined) return undefined;
  const [first = '', last = ''] = [parts['first'], parts['last']];
  if (first === '') {
    if (last === '') return undefined;
    return Number(last) === 0 ? 'beyond' : { start: Math.max(0, size - Number(last)), end: size };
  }
  if (last !== '' && Number(last) < Number(first)) return undefined;
  if (Number(first) >= size) return 'beyond';
  return { start: Number(first), end: last === '' ? size : Math.min(size, Number(last) + 1) };
}
