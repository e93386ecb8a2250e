import type { Answer } from './call.ts';
import type { DeployAction, ForeignBackup, ForeignInstance, ForeignRestore } from './instance.ts';
import type { Revision, Taste } from './options.ts';

/*
 * What the foreign service says about what it has, in its own taste: times in four spellings of ISO 8601,
 * unknown fields, and, when the taste is odd, missing fields.
 */

export const MIN_KEY_LENGTH = 12;

/** Section 2.1. `isOffered`: whether it can be downloaded now. */
export function spellBackup(backup: ForeignBackup, revision: Revision, taste: Taste, isOffered: boolean) {
  const { id, backupId, status, size, triggered, started, changed, isOver } = backup;
  const isKnown = size !== undefined && status !== 'deleted';
  return {
    id,
    backup_id: backupId,
    status,
    triggered_at: seconds(triggered),
    downloadable: isOffered,
    node: 'bm-2',
    ...(isKnown || taste === 'plain' ? { size: isKnown ? size : 0 } : {}),
    ...(isOver || taste === 'plain' ? { finished_at: offset(changed) } : { finished_at: null }),
    ...startOf(revision, taste, started ?? (taste === 'plain' ? triggered : undefined)),
  };
}

function startOf(revision: Revision, taste: Taste, started: Date | undefined) {
  if (revision !== 61) return {};
  if (started === undefined) return taste === 'odd' ? { started_at: null } : {};
  return { started_at: micros(started) };
}

/** Section 2.2. `metadata` is not there before the work has begun when the taste is odd. */
export function spellRestore(restore: ForeignRestore, taste: Taste) {
  const { id, backup, status, restoredFrom, triggered, changed, started, isOver } = restore;
  const metadata = { restored_from: offset(restoredFrom), attempts: 1 };
  return {
    triggered_at: micros(triggered),
    status,
    backup_id: backup ?? (taste === 'odd' ? null : 0),
    id,
    metadata: started === undefined && taste === 'odd' ? null : metadata,
    ...(isOver || taste === 'plain' ? { finished_at: offset(changed) } : {}),
    requested_by: null,
  };
}

/** Section 2.3. False is the default of the exclusion, so an odd service does not mention it. */
export function spellConfig({ settings, archiving }: ForeignInstance, taste: Taste) {
  const { exclude_from_auto_backup, ...counts } = settings;
  return {
    ...counts,
    min_encryption_key_length: MIN_KEY_LENGTH,
    backup_type: archiving ? 'continuous_archiving' : 'standard',
    ...(exclude_from_auto_backup || taste === 'plain' ? { exclude_from_auto_backup } : {}),
    cron: '0 3 * * *',
  };
}

/** Section 2.4. */
export function spellOverview(instance: ForeignInstance, url: string, taste: Taste) {
  const { number, name, state, serviceId, created, updated, pendingUpdates } = instance;
  const always = {
    id: number,
    name: taste === 'odd' ? `${name} (eu)` : name,
    state,
    service_id: serviceId,
    plan_id: 'c1a7e0de-0000-4000-8000-acce55ed0002',
    created_at: seconds(created),
    updated_at: offset(updated),
    shard: 'b',
    available_updates: pendingUpdates > 0 ? [{ name: 'acme-kv', type: 'release', version: '7.2.1' }] : [],
  };
  if (taste === 'odd') return { ...always, tenant_id: null, subtenant_name: null };
  return {
    ...always,
    subtenant_id: 'c1a7e0de-0000-4000-8000-acce55ed0003',
    subtenant_name: 'prod',
    tenant_id: 'c1a7e0de-0000-4000-8000-acce55ed0004',
    tenant_name: 'acme',
    urls: [{ display_name: 'Dashboard', id: 'dashboard', link: url }],
  };
}

/** Section 2.7: two times of one answer in two spellings. */
export function spellRange({ start, end }: { readonly start: Date; readonly end: Date }) {
  return { start_time: offset(start), end_time: end.toISOString(), timeline: 3 };
}

/** Endpoints 13 to 15: the success body is not shown, so it may be anything, also nothing. */
export function spellStarted(action: DeployAction, taste: Taste): Answer {
  if (action === 'recreate') return { status: 202, bytes: Buffer.alloc(0), headers: {} };
  if (taste === 'plain') return { status: 202, body: {} };
  if (action === 'update') return { status: 202, body: ['deployment', 4711, null] };
  return { status: 202, bytes: Buffer.from('Accepted\n'), headers: { 'content-type': 'text/plain' } };
}

/** Section 2.9. An odd service has one task per node for a restore, and the first node is faster. */
export function spellListing(instance: ForeignInstance, taste: Taste) {
  const { number, guid, backups, restores } = instance;
  const task = (taskId: number, about: ForeignBackup | ForeignRestore) => ({
    id: taskId,
    task_id: about.id,
    status: about.status,
    created_at: about.triggered.toISOString(),
    updated_at: about.changed.toISOString(),
  });
  return {
    id: number,
    instance_id: guid,
    page: 1,
    backups: backups.map((backup) => ({
      id: backup.id,
      instance_id: number,
      backup_agent_task: task(backup.taskId, backup),
    })),
    restores: restores.map((restore) => {
      const last = task(restore.taskId, restore);
      const isAhead = restore.status === 'running' || restore.status === 'archiving';
      const first = { ...last, id: restore.taskId + 1, ...(isAhead ? { status: 'done' } : {}) };
      return {
        id: restore.id,
        instance_id: number,
        backup_agent_tasks: taste === 'odd' ? [first, last] : [last],
      };
    }),
  };
}

/** ISO 8601 without milliseconds: up to a second too early. */
function seconds(at: Date): string {
  return at.toISOString().replace(/\.\d+Z$/, 'Z');
}

/** ISO 8601 with an offset instead of the Z. */
function offset(at: Date): string {
  return at.toISOString().replace('Z', '+00:00');
}

/** ISO 8601 with microseconds, which this clock does not have. */
function micros(at: Date): string {
  return at.toISOString().replace('Z', '000Z');
}
