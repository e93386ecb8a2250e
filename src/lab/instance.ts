import { randomBytes, randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Secret } from '../secret.ts';
import type { Database } from './engine/engine.ts';
import type { BackupStore } from './manager/store.ts';
import { type Fate, newTask, type Task, type TaskQueue } from './manager/task-queue.ts';

/** A backup as the Backup Manager knows it. */
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

export interface BackupSettings {
  readonly min_backup_count: number;
  /** Days. */
  readonly retention_time: number;
  readonly exclude_from_auto_backup: boolean;
}

export const MIN_KEY_LENGTH = 16;

/** One data-service instance of the lab: its database, its backups, its keys. */
export class LabInstance {
  readonly guid = randomUUID();
  /** The GUID by which the Backup Manager refers to the backups of this instance. */
  readonly backupGuid = randomUUID();
  readonly createdAt = new Date();
  #updatedAt = this.createdAt;
  #settings: BackupSettings = { min_backup_count: 5, retention_time: 30, exclude_from_auto_backup: false };
  readonly id: number;
  readonly name: string;
  readonly database: Database;
  readonly #queue: TaskQueue;
  readonly #store: BackupStore;
  readonly #backups: LabBackup[] = [];
  /** Without a user's key the Backup Manager encrypts with one of its own, which nobody learns. */
  readonly #generatedKey = newKey();
  #userKey: Secret | undefined;

  constructor(
    id: number,
    name: string,
    parts: { readonly database: Database; readonly queue: TaskQueue; readonly store: BackupStore },
  ) {
    this.id = id;
    this.name = name;
    this.database = parts.database;
    this.#queue = parts.queue;
    this.#store = parts.store;
  }

  get updatedAt(): Date {
    return this.#updatedAt;
  }

  get settings(): BackupSettings {
    return this.#settings;
  }

  /** Newest first. */
  get backups(): readonly LabBackup[] {
    return this.#backups.toReversed();
  }

  /** Takes over the settings that are given. */
  changeSettings(
    change: { readonly [Name in keyof BackupSettings]?: BackupSettings[Name] | undefined },
  ): void {
    this.#settings = {
      min_backup_count: change.min_backup_count ?? this.#settings.min_backup_count,
      retention_time: change.retention_time ?? this.#settings.retention_time,
      exclude_from_auto_backup: change.exclude_from_auto_backup ?? this.#settings.exclude_from_auto_backup,
    };
    this.#updatedAt = new Date();
  }

  /** Replaces the user's key; backups made before keep the key they were made with. */
  setKey(key: Secret): void {
    this.#userKey = key;
    this.#updatedAt = new Date();
  }

  /** Whether the user could open this backup: whole, and made under the user's present key. */
  isDownloadable(backup: LabBackup): boolean {
    return backup.task.status === 'done' && this.#userKey !== undefined && backup.key.equals(this.#userKey);
  }

  get isBackingUp(): boolean {
    return this.#backups.some(({ task }) => task.status === 'queued' || task.status === 'running');
  }

  /** Queues a backup. `ended` resolves when its task has ended; the task tells how. */
  triggerBackup(fate?: Fate): { readonly backup: LabBackup; readonly ended: Promise<void> } {
    const id = (this.#backups.at(-1)?.id ?? 0) + 1;
    const backup: LabBackup = {
      id,
      backupId: this.#nextBackupId(),
      task: newTask(`backup ${id} of ${this.name}`),
      key: this.#userKey ?? this.#generatedKey,
      size: 0,
    };
    this.#backups.push(backup);
    return {
      backup,
      ended: this.#queue.submit(backup.task, (signal) => this.#take(backup, signal), fate),
    };
  }

  read(backup: LabBackup, start: number, end: number): Readable {
    return this.#store.read(backup.backupId, start, end);
  }

  async #take(backup: LabBackup, signal: AbortSignal): Promise<void> {
    const { content, manifest } = this.database.baseBackup(backup.backupId);
    const stored = await this.#store.write(backup.backupId, content, backup.key, signal);
    await this.#store.describe(backup.backupId, {
      instance: this.name,
      ...stored,
      ...manifestFacts(manifest()),
    });
    backup.size = stored.size;
  }

  /** Two backups in one millisecond still get two ids. */
  #nextBackupId(): string {
    const last = this.#backups.at(-1)?.backupId.slice(this.backupGuid.length + 1);
    return `${this.backupGuid}-${Math.max(Date.now(), Number(last ?? 0) + 1)}`;
  }
}

/** 32 random bytes in base64url: 43 characters that no shell touches. */
export function newKey(): Secret {
  return new Secret(randomBytes(32).toString('base64url'));
}

/** Which database a backup is of, and which stretch of its log it needs. */
function manifestFacts(manifest: string): Record<string, string | number | null> {
  const parsed = JSON.parse(manifest) as {
    'WAL-Ranges'?: { Timeline: number; 'Start-LSN': string; 'End-LSN': string }[];
  };
  const range = parsed['WAL-Ranges']?.[0];
  // The identifier has 64 bits, more than a JavaScript number holds: it is cut out of the text.
  const system = /"System-Identifier": (?<id>\d+)/u.exec(manifest)?.groups?.['id'];
  return {
    system_identifier: system ?? null,
    timeline: range?.Timeline ?? null,
    start_lsn: range?.['Start-LSN'] ?? null,
    end_lsn: range?.['End-LSN'] ?? null,
  };
}
