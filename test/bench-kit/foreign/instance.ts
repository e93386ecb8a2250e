import { randomBytes, randomUUID } from 'node:crypto';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskWish } from './call.ts';
import { openLiveData } from './live-data.ts';
import type { InstanceSpec } from './options.ts';
import type { Packing, Profile, Sealed } from './pack.ts';
import type { Task, TaskYard } from './tasks.ts';

export interface ForeignBackup extends Task {
  readonly id: number;
  readonly backupId: string;
  readonly taskId: number;
  /** The key that the service says it was made with; undefined when it was one of its own. */
  readonly key: string | undefined;
  /** Bytes; undefined until it is done. */
  size?: number;
  file?: Sealed & { bytes(): Promise<Buffer> };
}

export interface ForeignRestore extends Task {
  readonly id: number;
  readonly taskId: number;
  /**
   * The id of the backup within the instance that it was made of, which may be another instance (endpoint
   * 11).
   */
  readonly backup: number | undefined;
  /** The creation of that backup, or the point in time. */
  readonly restoredFrom: Date;
}

export type DeployAction = 'recreate' | 'restart' | 'update';

/** The settings of section 2.3 that can be changed, but for the key. */
export interface Settings {
  min_backup_count: number;
  retention_time: number;
  exclude_from_auto_backup: boolean;
}

/**
 * One instance of the foreign service: its data, its tasks, its keys. Tests look inside; the API is what
 * changes it.
 */
export interface ForeignInstance {
  readonly name: string;
  /** The id in the paths. */
  readonly guid: string;
  /** The internal id. */
  readonly number: number;
  readonly backupGuid: string;
  readonly serviceId: string;
  readonly archiving: boolean;
  readonly created: Date;
  /** When its state or its settings changed last. */
  updated: Date;
  /** Section 3. */
  state: string;
  /** Every key that took effect, oldest first; the last one is in force. */
  readonly keys: string[];
  readonly settings: Settings;
  /** Of revision 61; undefined until it is set. */
  updateSetting: { readonly type: string; readonly allowed: boolean } | undefined;
  /** Maintenance updates that were not applied yet. */
  pendingUpdates: number;
  /** Newest first. */
  readonly backups: readonly ForeignBackup[];
  /** Oldest first. */
  readonly restores: readonly ForeignRestore[];
  /** Every recreate, restart and update, oldest first. */
  readonly deployments: readonly DeployAction[];
  /** The bytes of the data as they are now. */
  data(): Promise<Buffer>;
  /** What an application does: replaces the data. */
  write(bytes: Buffer): Promise<void>;
  /** Creates a backup as the service's own schedule would; throws when the instance is excluded from it. */
  schedule(wish?: TaskWish): Promise<ForeignBackup>;
  /**
   * Begins a backup with the key of this moment. With 0 milliseconds it is over when the promise resolves.
   */
  createBackup(wish?: TaskWish): Promise<ForeignBackup>;
  /**
   * Begins to replace the data by a backup's, which may be another instance's. With the wrong key the task
   * fails.
   */
  restore(backup: ForeignBackup, key: string, wish?: TaskWish): ForeignRestore;
  /** Begins to bring back the data of a time. Without archiving the task fails. */
  rewind(to: Date, wish?: TaskWish): ForeignRestore;
  /** The times that can be gone back to; undefined without archiving. */
  range(): { readonly start: Date; readonly end: Date } | undefined;
  /** Begins to deploy. */
  deploy(action: DeployAction, wish?: TaskWish): void;
  isBusy(kind: 'backup' | 'restore' | DeployAction): boolean;
}

interface Options {
  /** Exists, and is this instance's alone. */
  readonly folder: string;
  readonly guid: string;
  readonly number: number;
  readonly profile: Profile;
  readonly yard: TaskYard;
  readonly packing: Packing;
  readonly writeWith: () => string | undefined;
  readonly idsInRow: boolean;
}

export async function openInstance(spec: InstanceSpec, options: Options): Promise<ForeignInstance> {
  const { folder, guid, number, profile, yard, packing } = options;
  const { name, archiving = false } = spec;
  const live = await openLiveData(randomBytes(150_000), {
    folder: join(folder, 'live'),
    archiving,
    now: yard.now,
  });
  const ownKey = randomBytes(18).toString('base64');
  const keys = spec.key === undefined ? [] : [spec.key];
  const settings: Settings = { min_backup_count: 3, retention_time: 7, exclude_from_auto_backup: false };
  const backups: ForeignBackup[] = [];
  const restores: ForeignRestore[] = [];
  const deployments: DeployAction[] = [];
  const deploying: (Task & { readonly action: DeployAction })[] = [];
  const created = yard.now();
  const begin = (): Task => {
    const triggered = yard.now();
    return { triggered, changed: triggered, status: 'queued', isOver: false };
  };
  // Other numbers than the ids of what the tasks are about (section 2.9).
  const nextTaskId = () => 70_000_003 + 11 * (backups.length + restores.length);

  async function make(backup: ForeignBackup, sealed: Sealed): Promise<void> {
    await live.hold((folder) => packing.pack(folder, sealed));
    backup.size = (await stat(sealed.path)).size;
    backup.file = { ...sealed, bytes: () => readFile(sealed.path) };
  }

  /** Section 2.3: above the minimum, and past their days. */
  async function discardOld(): Promise<void> {
    const oldest = yard.now().getTime() - settings.retention_time * 86_400_000;
    const kept = backups.filter(({ status }) => status === 'done');
    for (const backup of kept.slice(settings.min_backup_count)) {
      if (backup.triggered.getTime() > oldest) continue;
      Object.assign(backup, { status: 'deleted', changed: yard.now() });
      const path = backup.file?.path;
      delete backup.file;
      if (path !== undefined) await rm(path, { force: true });
    }
  }

  async function createBackup(wish: TaskWish = {}): Promise<ForeignBackup> {
    const id = options.idsInRow ? backups.length + 1 : 900_041 + backups.length * 17;
    const key = keys.at(-1);
    const sealed = {
      path: join(folder, `${id}.enc`),
      key: options.writeWith() ?? key ?? ownKey,
      profile,
    };
    const backup: ForeignBackup = {
      ...begin(),
      id,
      backupId: `bkp:${number}.${id}~c2`,
      taskId: nextTaskId(),
      key,
    };
    backups.unshift(backup);
    const making = yard.lead(backup, wish, () => make(backup, sealed)).then(discardOld);
    if (wish.ms === 0) await making;
    return backup;
  }

  /** By default the ids neither grow nor follow each other. */
  function beginRestore(backup: number | undefined, restoredFrom: Date): ForeignRestore {
    const id = options.idsInRow ? restores.length + 1 : 7 + ((restores.length * 7919) % 9973);
    const restore = { ...begin(), id, taskId: nextTaskId(), backup, restoredFrom };
    restores.push(restore);
    return restore;
  }

  const instance: ForeignInstance = {
    name,
    guid,
    number,
    backupGuid: randomUUID().toUpperCase(),
    serviceId: 'c1a7e0de-0000-4000-8000-acce55ed0001',
    archiving,
    created,
    updated: created,
    state: 'available',
    keys,
    settings,
    updateSetting: undefined,
    pendingUpdates: 1,
    backups,
    restores,
    deployments,
    data: live.read,
    write: live.write,
    createBackup,
    schedule: (wish) => {
      if (settings.exclude_from_auto_backup) throw new Error(`${name} is excluded from scheduled backups`);
      return createBackup(wish);
    },
    restore: (backup, key, wish = {}) => {
      const restore = beginRestore(backup.id, backup.triggered);
      void yard.lead(restore, wish, async () => {
        if (backup.file === undefined) throw new Error('there is no file');
        const staged = join(folder, `staged-${restore.id}`);
        await packing.unpack({ ...backup.file, key }, staged);
        await live.replaceWith(staged);
      });
      return restore;
    },
    rewind: (to, wish = {}) => {
      const restore = beginRestore(closest(backups, to)?.id, to);
      void yard.lead(restore, wish, () => live.rewindTo(to));
      return restore;
    },
    range: () => {
      const start = live.oldest();
      return start === undefined ? undefined : { start, end: yard.now() };
    },
    deploy: (action, wish = {}) => {
      deployments.push(action);
      const task = { ...begin(), action };
      deploying.push(task);
      Object.assign(instance, { state: 'deploying', updated: task.triggered });
      const end = () => {
        const state = task.status === 'failed' ? 'failed' : 'available';
        if (action === 'update' && state === 'available') instance.pendingUpdates = 0;
        if (deploying.every(({ isOver }) => isOver)) Object.assign(instance, { state, updated: yard.now() });
      };
      void yard.lead(task, wish, async () => undefined).then(end);
    },
    isBusy: (kind) => {
      if (kind === 'backup') return backups.some(isUnderWay);
      if (kind === 'restore') return restores.some(isUnderWay);
      return deploying.some((task) => task.action === kind && isUnderWay(task));
    },
  };
  for (let i = 0; i < (spec.backups ?? 0); i += 1) await createBackup({ ms: 0 });
  return instance;
}

function isUnderWay({ isOver }: Task): boolean {
  return !isOver;
}

/** Endpoint 18 uses the backup closest to the time. */
function closest(backups: readonly ForeignBackup[], to: Date): ForeignBackup | undefined {
  const distance = ({ triggered }: ForeignBackup) => Math.abs(triggered.getTime() - to.getTime());
  return backups.filter(({ status }) => status === 'done').toSorted((a, b) => distance(a) - distance(b))[0];
}
