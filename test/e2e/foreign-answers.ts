import type { ForeignBackup } from './foreign-backups.ts';

/** What the foreign service says, in its own taste. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export const LEAST_KEY_LENGTH = 12;

/** No `plan_id`, no names, no urls: everything optional stays away, and something nobody knows is there. */
export function overview() {
  return { id: 4, name: 'orders (eu)', state: 'available', created_at: '2024-02-29T23:59:59Z', shard: 'b' };
}

export function config() {
  return { min_encryption_key_length: LEAST_KEY_LENGTH, backup_type: 'standard', cron: '0 3 * * *' };
}

export function listed(backup: ForeignBackup, revision: 61 | 62) {
  const { id, backupId, status, size, triggered, started, finished } = backup;
  return {
    id,
    backup_id: backupId,
    status,
    triggered_at: seconds(triggered),
    downloadable: status === 'done',
    node: 'bm-2',
    ...(size === undefined ? {} : { size }),
    ...(finished === undefined ? {} : { finished_at: offset(finished) }),
    ...(revision === 61 && started !== undefined ? { started_at: seconds(started) } : {}),
  };
}

/** Only revision 61 names `backup_id` when one backup is asked for. */
export function one(backups: readonly ForeignBackup[], id: number, revision: 61 | 62): Answer {
  const backup = backups.find((candidate) => candidate.id === id);
  if (backup === undefined) return refused(404, 'backupNotFound', 'there is no such backup');
  const { backup_id, ...rest } = listed(backup, revision);
  return ok(revision === 61 ? { ...rest, backup_id } : rest);
}

export function ok(body: unknown): Answer {
  return { status: 200, body };
}

/** The old base has an error body of its own. */
export function refused(status: number, error: string, description: string, path = ''): Answer {
  return {
    status,
    body: path.startsWith('/service-instances/') ? { msg: description } : { error, description },
  };
}

export function downloadProblem(revision: 61 | 62) {
  return revision === 61 ? { message: 'ids do not match', status: 412 } : { msg: 'ids do not match' };
}

/** ISO 8601 without milliseconds. */
function seconds(at: Date): string {
  return at.toISOString().replace(/\.\d+Z$/, 'Z');
}

/** ISO 8601 with an offset instead of the Z. */
function offset(at: Date): string {
  return at.toISOString().replace('Z', '+00:00');
}
