import { z } from 'zod';
import { type Untrusted, untrust } from '../base/text.ts';
import { type Backup, id, maybe, type Restore, state, text } from './schemas.ts';

/** Section 2.9. `task_id` names the backup or restore again and is left out. */
const Task = z.looseObject({ status: state, created_at: maybe(text), updated_at: maybe(text) });
type Task = z.infer<typeof Task>;

/** Section 2.9, the listing. The ids of instances are the internal ones. */
export const BackupListing = z.looseObject({
  id,
  backups: z.array(z.looseObject({ id, instance_id: maybe(id), backup_agent_task: maybe(Task) })),
  restores: z.array(z.looseObject({ id, instance_id: maybe(id), backup_agent_tasks: maybe(z.array(Task)) })),
});
export type BackupListing = z.infer<typeof BackupListing>;

/**
 * The backups of a listing as version 1 would tell them; size and whether they can be downloaded are not
 * known.
 */
export function backupsOf(listing: BackupListing): readonly Backup[] {
  return listing.backups.map(({ id, backup_agent_task: task }) => ({
    id,
    backup_id: undefined,
    size: undefined,
    ...whole(task === undefined ? [] : [task]),
    started_at: undefined,
    downloadable: undefined,
  }));
}

/** The restores of a listing as version 1 would tell them; which backup they used is not known. */
export function restoresOf(listing: BackupListing): readonly Restore[] {
  return listing.restores.map(({ id, backup_agent_tasks: tasks }) => ({
    id,
    backup_id: undefined,
    metadata: undefined,
    ...whole(tasks ?? []),
  }));
}

const ENDED: readonly string[] = ['done', 'failed', 'deleted'];

/**
 * Several tasks as one: under way as long as one of them is, done only when all are, and never better than
 * the worst.
 */
function whole(tasks: readonly Task[]) {
  const begun = tasks.flatMap((task) => task.created_at ?? []).toSorted(byTime);
  const changed = tasks.flatMap((task) => task.updated_at ?? []).toSorted(byTime);
  const status = wholeStatus(tasks.map((task) => task.status));
  return {
    status,
    triggered_at: begun[0],
    finished_at: ENDED.includes(status) ? changed.at(-1) : undefined,
  };
}

/** Section 3 names the statuses; a task with another one has not ended as far as is known. */
function wholeStatus(statuses: readonly Untrusted[]): Untrusted {
  const [first = untrust('unknown')] = statuses;
  if (statuses.every((status) => status === first)) return first;
  const open = statuses.filter((status) => !ENDED.includes(status));
  if (open.length > 0)
    return open.length === statuses.length
      ? (open.find((one) => one === 'running') ?? first)
      : untrust('running');
  return untrust(statuses.includes(untrust('failed')) ? 'failed' : 'deleted');
}

function byTime(one: string, other: string): number {
  return Date.parse(one) - Date.parse(other);
}
