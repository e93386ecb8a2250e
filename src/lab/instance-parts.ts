import type { LabClock } from './clock.ts';
import type { InstanceData } from './data/instance-data.ts';
import type { LabInstance } from './instance.ts';
import type { KeyRing } from './key-ring.ts';
import type { LabBackup } from './manager/instance-backups.ts';
import type { BackupStore } from './manager/store.ts';
import type { TaskQueue } from './manager/task-queue.ts';

/** What an instance is made of. */
export interface InstanceParts {
  readonly data: InstanceData;
  readonly queue: TaskQueue;
  readonly store: BackupStore;
  readonly clock: LabClock;
  /** Key under which the log is archived and backups are made until the user sets one. */
  readonly keys: KeyRing;
  readonly log: (line: string) => void;
}

export interface InstanceFacts {
  /** Internal id, lab-wide, from 1. */
  readonly id: number;
  readonly name: string;
  readonly serviceId: string;
  readonly planId: string;
}

export interface BackupSettings {
  readonly min_backup_count: number;
  /** Days. */
  readonly retention_time: number;
  readonly exclude_from_auto_backup: boolean;
}

export type BackupType = 'standard' | 'continuous_archiving';

/** A backup and the place it is kept at, of this or another instance. */
export interface Found {
  readonly owner: LabInstance;
  readonly backup: LabBackup | undefined;
}
