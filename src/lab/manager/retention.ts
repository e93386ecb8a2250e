import type { Task } from './task-queue.ts';

export interface RetentionRule {
  /** How many newer backups there are at least when one is deleted. */
  readonly min_backup_count: number;
  /** Days. */
  readonly retention_time: number;
}

const DAY_MS = 86_400_000;

/**
 * Which backups are to be deleted now: done, older than the retention time, and with enough newer ones that
 * are done (section 2.3). A failed backup protects nothing and is not counted. `backups` is ordered oldest
 * first.
 */
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
