import type { LabBackup } from './instance-backups.ts';
import { isOpen, type Outcome, type Task, type TaskQueue } from './task-queue.ts';

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
export type RestoreWork = (signal: AbortSignal, chosen: (backup: LabBackup) => void) => Promise<void>;

interface RestoreParts {
  readonly name: string;
  readonly queue: TaskQueue;
  /** Whether the instance is idle except for restores. */
  readonly atRest: () => boolean;
  /** Called when a restore has ended, successfully or not. */
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
