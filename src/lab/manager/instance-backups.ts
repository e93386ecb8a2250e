import type { Readable } from 'node:stream';
import type { Secret } from '../../base/secret.ts';
import type { BackupStore } from './store.ts';
import { isOpen, type Outcome, type Task, type TaskQueue } from './task-queue.ts';

export interface LabBackup {
  /** Small, per instance, from 1. */
  readonly id: number;
  /** `<backup guid of the instance>-<milliseconds since 1970>` */
  readonly backupId: string;
  readonly task: Task;
  /** The key at the moment the backup was triggered. */
  readonly key: Secret;
  /** Bytes of the encrypted file; 0 until it is there. */
  size: number;
}

/** The Backup Manager's view of the instance whose backups it keeps. */
export interface BackupOrigin<Facts> {
  readonly name: string;
  readonly backupGuid: string;
  /** The content, and what is known about it once it has ended. */
  take(label: string): { readonly content: Readable; facts(): Promise<Facts> };
  /** The part of the facts that is stored beside the file. */
  describe(facts: Facts): Readonly<Record<string, string | number | null>>;
  /** Called when a backup is complete and stored. */
  kept(backup: LabBackup, facts: Facts): void;
  /** Called when a backup is deleted. */
  forgotten(backup: LabBackup): Promise<void>;
  retention(): RetentionRule;
  /** Whether a backup can be taken now; else it waits in the queue. */
  isReady(): boolean;
  /** Aborts running work when the instance is lost; a new signal each time it comes back. */
  life(): AbortSignal;
}

/** The GUID by which the Backup Manager refers to the instance of a backup, from the id of the backup. */
export function guidOfBackup(backupId: string): string {
  return backupId.slice(0, Math.max(0, backupId.lastIndexOf('-')));
}

interface BackupParts {
  readonly queue: TaskQueue;
  readonly store: BackupStore;
  readonly now: () => Date;
}

/** The backups of one instance: taken, kept, deleted by retention. They outlive the loss of the instance. */
export class InstanceBackups<Facts> {
  readonly #origin: BackupOrigin<Facts>;
  readonly #parts: BackupParts;
  /** Oldest first. */
  readonly #backups: LabBackup[] = [];
  readonly #beingDeleted = new Set<LabBackup>();
  #lastStamp = 0;

  constructor(origin: BackupOrigin<Facts>, parts: BackupParts) {
    this.#origin = origin;
    this.#parts = parts;
  }

  /** Newest first; deleted ones too. */
  get all(): readonly LabBackup[] {
    return this.#backups.toReversed();
  }

  get isBusy(): boolean {
    return this.#backups.some(({ task }) => isOpen(task));
  }

  /** The newest restorable backup, or the newest one finished by a moment. */
  newestDone(by?: Date): LabBackup | undefined {
    return this.#backups.findLast(
      ({ task }) => task.status === 'done' && (by === undefined || task.changedAt <= by),
    );
  }

  /** Queues a backup under a key. `ended` resolves when its task has ended; the task tells how. */
  trigger(key: Secret, outcome?: Outcome): { readonly backup: LabBackup; readonly ended: Promise<void> } {
    const id = this.#backups.length + 1;
    const task = this.#parts.queue.newTask(`backup ${id} of ${this.#origin.name}`);
    const backup: LabBackup = { id, backupId: this.#nextBackupId(task), task, key, size: 0 };
    this.#backups.push(backup);
    const work = (signal: AbortSignal) => this.#take(backup, AbortSignal.any([signal, this.#origin.life()]));
    const ended = this.#parts.queue.submit(task, { work, outcome, mayStart: () => this.#origin.isReady() });
    void ended.then(() => this.prune());
    return { backup, ended };
  }

  /** Queues the deletion of expired backups. */
  prune(): void {
    for (const backup of expiredBackups(this.#backups, this.#origin.retention(), this.#parts.now())) {
      if (this.#beingDeleted.has(backup)) continue;
      this.#beingDeleted.add(backup);
      const task = this.#parts.queue.newTask(`deletion of backup ${backup.id} of ${this.#origin.name}`);
      void this.#parts.queue
        .submit(task, { work: () => this.#delete(backup) })
        .then(() => this.#beingDeleted.delete(backup));
    }
  }

  /** The stored bytes from `start` up to before `end`, still encrypted. */
  read(backup: LabBackup, start = 0, end = backup.size): Readable {
    return this.#parts.store.read(backup.backupId, start, end);
  }

  async #take(backup: LabBackup, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { content, facts } = this.#origin.take(backup.backupId);
    const stored = await this.#parts.store.write(backup.backupId, content, backup.key, signal);
    const known = await facts();
    await this.#parts.store.describe(backup.backupId, {
      instance: this.#origin.name,
      ...stored,
      ...this.#origin.describe(known),
    });
    backup.size = stored.size;
    this.#origin.kept(backup, known);
  }

  /** The entry stays in the list. A deletion that fails is tried again by the next `prune`. */
  async #delete(backup: LabBackup): Promise<void> {
    await this.#parts.store.remove(backup.backupId);
    await this.#origin.forgotten(backup);
    backup.task.status = 'deleted';
    backup.task.changedAt = this.#parts.now();
  }

  /** Two backups in one millisecond still get two ids. */
  #nextBackupId({ triggeredAt }: Task): string {
    this.#lastStamp = Math.max(triggeredAt.getTime(), this.#lastStamp + 1);
    return `${this.#origin.backupGuid}-${this.#lastStamp}`;
  }
}

/** Downloadable backups (the documents leave it open): under the user's current key, or any of the user's. */
export const DOWNLOAD_RULES = ['present-key', 'own-key'] as const;
export type DownloadRule = (typeof DOWNLOAD_RULES)[number];

export interface RetentionRule {
  /** The minimum number of newer backups before one is deleted. */
  readonly min_backup_count: number;
  /** Days. */
  readonly retention_time: number;
}

const DAY_MS = 86_400_000;

/** Done, older than the retention time, enough newer done ones (section 2.3). `backups`: oldest first. */
export function expiredBackups<B extends { readonly task: Task }>(
  backups: readonly B[],
  { min_backup_count, retention_time }: RetentionRule,
  now: Date,
): readonly B[] {
  const done = backups.filter(({ task }) => task.status === 'done');
  const oldest = now.getTime() - retention_time * DAY_MS;
  return done
    .slice(0, Math.max(0, done.length - min_backup_count))
    .filter(({ task }) => task.triggeredAt.getTime() < oldest);
}

/** A restore as the Backup Manager knows it (section 2.2 of service-api.md). */
export interface LabRestore {
  /** Small, per instance that is restored, from 1. */
  readonly id: number;
  readonly task: Task;
  /** The backup to restore; until the task has chosen one, the one it would choose now. */
  backup: LabBackup | undefined;
  /** The requested point in time; undefined for the whole backup. */
  readonly pointInTime: Date | undefined;
}

/** Restores a backup and reports which; rejects if nothing has changed. */
type RestoreWork = (signal: AbortSignal, chosen: (backup: LabBackup) => void) => Promise<void>;

interface RestoreParts {
  readonly name: string;
  readonly queue: TaskQueue;
  /** Whether the instance is idle except for restores. */
  readonly atRest: () => boolean;
  readonly ended: () => void;
  readonly life: () => AbortSignal;
}

/** The restores into one instance: one at a time, in order, each when the instance is free. */
export class InstanceRestores {
  readonly #parts: RestoreParts;
  /** Oldest first. */
  readonly #restores: LabRestore[] = [];
  #running = false;

  constructor(parts: RestoreParts) {
    this.#parts = parts;
  }

  /** Newest first. */
  get all(): readonly LabRestore[] {
    return this.#restores.toReversed();
  }

  /** Whether one is queued or running. */
  get isBusy(): boolean {
    return this.#restores.some(({ task }) => isOpen(task));
  }

  /** Whether one is running: then the data of the instance is about to change. */
  get isRunning(): boolean {
    return this.#running;
  }

  /** Queues a restore. `expected` is the backup it will probably use. */
  trigger(
    plan: {
      readonly expected: LabBackup | undefined;
      readonly pointInTime?: Date;
      readonly work: RestoreWork;
    },
    outcome?: Outcome,
  ): LabRestore {
    const { name, queue, atRest, ended: over, life } = this.#parts;
    const id = this.#restores.length + 1;
    const task = queue.newTask(`restore ${id} of ${name}`);
    const restore: LabRestore = { id, task, backup: plan.expected, pointInTime: plan.pointInTime };
    this.#restores.push(restore);
    const work = async (closing: AbortSignal) => {
      const signal = AbortSignal.any([closing, life()]);
      signal.throwIfAborted();
      await plan.work(signal, (backup) => {
        restore.backup = backup;
      });
      signal.throwIfAborted();
    };
    const ended = queue.submit(task, {
      work,
      outcome,
      mayStart: () => !this.#running && atRest(),
      onStart: () => {
        this.#running = true;
      },
    });
    void ended.then(() => {
      this.#running = false;
      over();
      queue.recheck();
    });
    return restore;
  }
}
