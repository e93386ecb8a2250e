import type { TaskBeside } from '../../machines/parts/task-data.ts';
import { isoOf } from '../base/date.ts';
import { failureOf } from '../base/errors.ts';
import { instantOf } from '../base/instant.ts';
import { show, untrust } from '../base/text.ts';
import type { UnreadRow } from '../service/rows.ts';
import type { Backup, Restore } from '../service/schemas.ts';
import { type ActivityContext, ok } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { type Task, TaskBaseline } from './evaluate-tasks.ts';
import { poll } from './poll.ts';

type Listed = Task & {
  readonly backup_id?: Restore['backup_id'] | Backup['backup_id'];
  readonly metadata?: Restore['metadata'];
};

/**
 * Tasks that the run did not send: not listed before the first send, and not ours. A router may send a call
 * twice, and a colleague may be at work. Without a record of sends, tasks triggered since task `id` count.
 * Pure.
 */
export function beyondSent(
  tasks: readonly Listed[],
  id: number,
  { what, on, sent = [] }: Pick<ActivityContext, 'sent'> & { readonly what: string; readonly on?: unknown },
): readonly Listed[] {
  const sends = sent.filter((one) => one.what === what && one.on === on);
  const ours = new Set([id, ...sends.flatMap(({ became }) => became ?? [])]);
  const own = tasks.find((task) => task.id === id);
  const parsed = TaskBaseline.safeParse(sends[0]?.baseline);
  const before = parsed.success && !('lost' in parsed.data) ? parsed.data.tasks : undefined;
  const known = new Set(before?.map(([one]) => one));
  const newest = before?.reduce((most, [, at]) => Math.max(most, at ?? 0), 0) ?? instantOf(own?.triggered_at);
  return tasks.filter((task) => {
    if (ours.has(task.id) || known.has(task.id)) return false;
    const at = instantOf(task.triggered_at);
    // A list of the newest tasks shows older ones again after others were deleted.
    if (at !== undefined && newest !== undefined) return at >= newest;
    return before !== undefined || task.id > id;
  });
}

/** Adds unreadable rows with a readable id: such tasks exist, and have not ended. */
export function withUnread<Row extends Listed>(
  tasks: readonly Row[],
  unread: readonly UnreadRow[] = [],
): readonly Listed[] {
  const odd = unread.flatMap(({ id, atMs }): Listed[] => {
    if (id === undefined) return [];
    return [
      {
        id,
        status: untrust('unreadable'),
        triggered_at: atMs === undefined ? undefined : untrust(isoOf(atMs)),
      },
    ];
  });
  return [...tasks, ...odd];
}

const ENDED: ReadonlySet<string> = new Set(['done', 'failed', 'deleted']);

/** A task with an unknown status is open. */
export function isOpen({ status }: Pick<Task, 'status'>): boolean {
  return !ENDED.has(status);
}

export function toBeside({ id, status, triggered_at, backup_id, metadata }: Listed): TaskBeside {
  return {
    id,
    status: show(status, 40),
    ...(triggered_at === undefined ? {} : { triggeredAt: show(triggered_at, 40) }),
    ...(typeof backup_id === 'number' ? { backup: backup_id } : {}),
    ...(metadata?.restored_from === undefined ? {} : { restoredFrom: metadata.restored_from }),
  };
}

/** Before the end of a run. */
export interface LastLook {
  readonly beside?: TaskBeside[];
  /** Why the list could not be read. */
  readonly unlooked?: string;
}

/**
 * Waits while the list shows a restore under way that was not sent. An unreadable list does not block; the
 * result says that it was not read.
 */
export async function lastLook(
  { service }: Pick<ActivityDeps, 'service'>,
  { what, id, on }: { readonly what: 'backup' | 'restore'; readonly id: number; readonly on?: unknown },
  context: ActivityContext,
): Promise<LastLook> {
  const { signal, sent } = context;
  const looked = await poll(`the list of ${what}s`, context, async () => {
    const list = await service[`${what}s`](signal).catch((thrown: unknown) => failureOf(thrown).shortMessage);
    if (typeof list === 'string') return { status: list, result: ok<LastLook>({ unlooked: list }) };
    const others = beyondSent(withUnread<Listed>(list.value, list.unread), id, { what, on, sent });
    const open = what === 'restore' ? others.find(isOpen) : undefined;
    if (open !== undefined) return { status: `${what} ${open.id} is ${open.status}` };
    const beside = others.slice(0, MAX).map(toBeside);
    return { status: 'looked at', result: ok<LastLook>(beside.length === 0 ? {} : { beside }) };
  });
  return looked.ok ? looked.output : { unlooked: looked.failure.shortMessage };
}

const MAX = 20;
