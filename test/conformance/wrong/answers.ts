import type { Backup, Instance, Restore, Task } from './landscape.ts';
import { SERVICE_ID } from './landscape.ts';

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const ok = (body: unknown, status = 200): Answer => ({ status, body });
export const v1Error = (status: number, error: string): Answer => ({
  status,
  body: { error, description: `This is answered with ${status}.` },
});
export const downloadError = (status: number): Answer => ({
  status,
  body: { message: `This is answered with ${status}.`, status },
});
export const v0Error = (status: number): Answer => ({
  status,
  body: { msg: `This is answered with ${status}.` },
});

const time = (date: Date) => date.toISOString();

export function backupOf(backup: Backup, instance: Instance, revision: 61 | 62, single: boolean): object {
  return {
    id: backup.id,
    ...(single && revision === 62 ? {} : { backup_id: backup.backupId }),
    size: backup.status === 'done' ? backup.content.length : 0,
    status: backup.status,
    triggered_at: time(backup.triggeredAt),
    ...(revision === 61
      ? { started_at: backup.startedAt === undefined ? null : time(backup.startedAt) }
      : {}),
    finished_at: time(backup.finishedAt),
    downloadable: backup.status === 'done' && backup.key === instance.key,
  };
}

export function restoreOf(restore: Restore): object {
  return {
    id: restore.id,
    backup_id: restore.backup,
    status: restore.status,
    metadata: { restored_from: time(restore.from) },
    triggered_at: time(restore.triggeredAt),
    finished_at: time(restore.finishedAt),
  };
}

export function overviewOf(instance: Instance): object {
  return {
    available_updates: [{ name: 'stemcell', type: 'release', version: '1.2' }],
    created_at: time(instance.createdAt),
    id: instance.id,
    name: instance.name,
    plan_id: 'plan-small',
    service_id: SERVICE_ID,
    state: instance.deploying > 0 ? 'deploying' : 'provisioned',
    subtenant_id: 'space-1',
    subtenant_name: 'space',
    tenant_id: 'org-1',
    tenant_name: 'org',
    updated_at: time(instance.createdAt),
    urls: [{ display_name: 'Dashboard', id: 'dashboard', link: 'https://dashboard.example.com/' }],
  };
}

export function listingOf(instance: Instance): object {
  const taskOf = (task: Task) => ({
    id: task.id + 1000,
    task_id: task.id,
    status: task.status,
    created_at: time(task.triggeredAt),
    updated_at: time(task.finishedAt),
  });
  return {
    id: instance.id,
    instance_id: instance.guid,
    backups: instance.backups.map((backup) => ({
      id: backup.id,
      instance_id: instance.id,
      backup_agent_task: taskOf(backup),
    })),
    restores: instance.restores.map((restore) => ({
      id: restore.id,
      instance_id: instance.id,
      backup_agent_tasks: [taskOf(restore)],
    })),
  };
}

/** Two rounds of three metrics, the older round first. */
export function metrics(): readonly string[] {
  const now = Math.floor(Date.now() / 1000);
  return [now - 30, now].flatMap((at) => [
    `relational.0.system.cpu0.user 3.5 ${at}`,
    `relational.0.system.load.load1 0.25 ${at}`,
    `relational.0.parachute.disk.persistent.used_percent 12 ${at}`,
  ]);
}
