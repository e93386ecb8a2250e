import { randomBytes, randomUUID } from 'node:crypto';

/** A task of the server beside the tests. It moves on by itself each time that anybody asks anything. */
export interface Task {
  readonly id: number;
  status: 'queued' | 'running' | 'done' | 'failed';
  /** Where it leads. */
  readonly end: 'done' | 'failed';
  readonly triggeredAt: Date;
  startedAt: Date | undefined;
  finishedAt: Date;
}

export interface Backup extends Task {
  readonly backupId: string;
  readonly content: Buffer;
  readonly key: string | undefined;
}

export interface Restore extends Task {
  readonly backup: number;
  readonly from: Date;
}

export interface Instance {
  readonly guid: string;
  readonly id: number;
  readonly name: string;
  readonly backupGuid: string;
  readonly createdAt: Date;
  readonly config: {
    min_backup_count: number;
    retention_time: number;
    exclude_from_auto_backup: boolean;
    min_encryption_key_length: number;
    backup_type: string;
  };
  key: string | undefined;
  /** Looks for which it stays `deploying`. */
  deploying: number;
  readonly backups: Backup[];
  readonly restores: Restore[];
}

export const TOKEN = 'conformance-token-of-the-operator';
export const READONLY_TOKEN = 'conformance-token-of-the-onlooker';
export const SERVICE_ID = 'service-relational';
let lastTask = 40;

export function newInstance(name: string, id: number, archiving: boolean): Instance {
  return {
    guid: randomUUID(),
    id,
    name,
    backupGuid: randomUUID(),
    createdAt: new Date(Date.now() - 86_400_000),
    config: {
      min_backup_count: 5,
      retention_time: 7,
      exclude_from_auto_backup: false,
      min_encryption_key_length: 8,
      backup_type: archiving ? 'continuous_archiving' : 'standard',
    },
    key: 'the-first-key',
    deploying: 0,
    backups: [],
    restores: [],
  };
}

export function newBackup(instance: Instance): Backup {
  const backup: Backup = {
    ...newTask('done'),
    backupId: `${instance.backupGuid}-${Date.now()}-${lastTask}`,
    content: Buffer.concat([Buffer.from('Salted__'), randomBytes(200)]),
    key: instance.key,
  };
  instance.backups.push(backup);
  return backup;
}

export function newRestore(
  instance: Instance,
  backup: number,
  from: Date,
  end: Task['end'] = 'done',
): Restore {
  const restore: Restore = { ...newTask(end), backup, from };
  instance.restores.push(restore);
  return restore;
}

/** Every task makes one step. */
export function tick(instances: readonly Instance[]): void {
  for (const instance of instances) {
    instance.deploying = Math.max(0, instance.deploying - 1);
    for (const task of [...instance.backups, ...instance.restores]) {
      if (task.status === 'done' || task.status === 'failed') continue;
      task.finishedAt = new Date();
      if (task.status === 'queued') task.startedAt = task.finishedAt;
      task.status = task.status === 'queued' ? 'running' : task.end;
    }
  }
}

function newTask(end: Task['end']): Task {
  const now = new Date();
  lastTask += 1;
  return { id: lastTask, status: 'queued', end, triggeredAt: now, startedAt: undefined, finishedAt: now };
}
