import * as z from 'zod';
import { LifeboatError } from '../base/errors.ts';
import { msOf } from '../base/instant.ts';
import { lazily } from '../base/lazily.ts';
import { type Untrusted, untrust } from '../base/text.ts';
import type { Answer, SendOutcome } from './client.ts';
import { type Operations, unsent } from './operations.ts';
import { readRows, type UnreadRow } from './rows.ts';
import { type Backup, id, maybe, type Restore, state, text } from './schemas.ts';
import { readCreated, readId } from './send-outcome.ts';
import { type Methods, v1Methods } from './v1.ts';

/** Section 4.4: one listing, and creating and restoring a backup. Others end with `service.unsupported`. */
export function v0Methods(operations: Operations): Methods {
  const list = async (signal?: AbortSignal): Promise<Answer<RowsRead>> => {
    const answer = await operations.read('backups', RawListing(), { signal });
    const { backups, restores, ...rest } = answer.value;
    const own = readRows(backups, BackupRow(), answer);
    const other = readRows(restores, RestoreRow(), answer);
    const unread = { backups: own.unread, restores: other.unread };
    const raw = { ...(answer.raw as object), backups: own.raw, restores: other.raw };
    return { ...answer, raw, value: { ...rest, backups: own.value, restores: other.value, unread } };
  };

  /**
   * A mutating call follows no redirect, not even to log in. So the listing is read just before: it follows
   * the redirects and provides the session's cookies and the internal ids. If it cannot be read, nothing is
   * sent.
   */
  async function afterListing<T>(
    signal: AbortSignal | undefined,
    send: (listing: BackupListing) => Promise<SendOutcome<T>>,
  ): Promise<SendOutcome<T>> {
    let listing: BackupListing;
    try {
      listing = (await list(signal)).value;
    } catch (error) {
      return unsent(error);
    }
    return send(listing);
  }

  return {
    ...v1Methods(operations),
    backups: async (signal) => mapped(await list(signal), 'backups', backupsOf),
    backup: async (id, signal) => oneOf(await list(signal), 'backups', backupsOf, id),
    restores: async (signal) => mapped(await list(signal), 'restores', restoresOf),
    restore: async (id, signal) => oneOf(await list(signal), 'restores', restoresOf, id),
    createBackup: (leave) =>
      afterListing(leave?.signal, () =>
        operations.send('createBackup', { session: true, read: readCreated, leave }),
      ),
    restoreBackup: (id, leave) =>
      afterListing(leave?.signal, async (listing) => {
        const backup = listing.backups.find((one) => one.id === id);
        if (backup === undefined) return unsent(notListed(id));
        return operations.send('restoreBackup', {
          body: { instance_id: backup.instance_id ?? listing.id, backup_id: backup.id },
          session: true,
          read: (json) => ({ id: readId(json, 'restore_id') }),
          leave,
        });
      }),
  };
}

function mapped<U>(
  answer: Answer<RowsRead>,
  field: 'backups' | 'restores',
  map: (value: BackupListing) => U,
): Answer<U> {
  const unread = answer.value.unread[field];
  return { ...answer, value: map(answer.value), ...(unread.length === 0 ? {} : { unread }) };
}

/** In V1 form and as received. */
function oneOf<T extends { readonly id: number }>(
  answer: Answer<RowsRead>,
  field: 'backups' | 'restores',
  map: (listing: BackupListing) => readonly T[],
  id: number,
): Answer<T> {
  const value = map(answer.value).find((one) => one.id === id);
  const odd = answer.value.unread[field].find((row) => row.id === id);
  if (value === undefined && odd !== undefined)
    throw new LifeboatError('service.bad-answer', `the row with id ${id} cannot be read (${odd.field})`, {
      hints: ['the other rows of the list can be read', 'nothing was changed'],
    });
  if (value === undefined) throw notListed(id);
  const rows = (answer.raw as Readonly<Record<string, readonly { readonly id: number }[]>>)[field];
  return { ...answer, value, raw: rows?.find((row) => row.id === id) };
}

function notListed(id: number): LifeboatError {
  return new LifeboatError('service.not-found', `the service lists nothing with the id ${id}`, {
    hints: ['check the id: list what is there', 'nothing was changed'],
  });
}

/** Section 2.9. `task_id` repeats the id of the backup or restore and is left out. */
const Task = () => z.looseObject({ status: state, created_at: maybe(text), updated_at: maybe(text) });
type Task = z.infer<ReturnType<typeof Task>>;

const BackupRow = lazily(() =>
  z.looseObject({ id, instance_id: maybe(id), backup_agent_task: maybe(Task()) }),
);
const RestoreRow = lazily(() =>
  z.looseObject({ id, instance_id: maybe(id), backup_agent_tasks: maybe(z.array(Task())) }),
);

/** Before its rows are read. */
const RawListing = lazily(() =>
  z.looseObject({ id, backups: z.array(z.unknown()), restores: z.array(z.unknown()) }),
);

/** Section 2.9. The ids of instances are internal ones. */
export const BackupListing = lazily(() =>
  z.looseObject({ id, backups: z.array(BackupRow()), restores: z.array(RestoreRow()) }),
);
export type BackupListing = z.infer<ReturnType<typeof BackupListing>>;

type RowsRead = BackupListing & {
  readonly unread: Readonly<Record<'backups' | 'restores', readonly UnreadRow[]>>;
};

/** In V1 form, without size and `downloadable`. */
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

/** In V1 form; which backup they used is unknown. */
export function restoresOf(listing: BackupListing): readonly Restore[] {
  return listing.restores.map(({ id, backup_agent_tasks: tasks }) => ({
    id,
    backup_id: undefined,
    metadata: undefined,
    ...whole(tasks ?? []),
  }));
}

const ENDED: readonly string[] = ['done', 'failed', 'deleted'];

/** Several tasks as one: under way as long as one is, done only if all are, never better than the worst. */
function whole(tasks: readonly Task[]) {
  const begun = tasks.flatMap((task) => task.created_at ?? []).toSorted(byTime);
  const changed = tasks.flatMap((task) => task.updated_at ?? []).toSorted(byTime);
  const status = wholeStatus(tasks.map((task) => task.status));
  return { status, triggered_at: begun[0], finished_at: ENDED.includes(status) ? changed.at(-1) : undefined };
}

/** Section 3 lists the statuses; a task with another one is treated as not ended. */
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
  return msOf(one) - msOf(other);
}
