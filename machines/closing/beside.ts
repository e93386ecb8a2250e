import { counted } from '../../src/base/quantity.ts';
import type { RunContext } from '../context.ts';
import type { TaskBeside } from '../parts/task-data.ts';

/* Tasks in the service's list that the run did not send. Pure functions of the context. */

/** Restores of others, or of a second copy of our request, as last seen. */
function restoresBeside({ restore, record }: RunContext): readonly TaskBeside[] {
  const seen = [...(restore.restore?.beside ?? []), ...(record.beside ?? [])];
  return [...new Map(seen.map((one) => [one.id, one])).values()];
}

/**
 * Whether what the run restored may have been replaced by another restore: one that came after the run had
 * looked at the data, has not ended well, or is not known to bring back the same.
 */
export function isReplaced(context: RunContext): boolean {
  const own = context.restore.restore;
  const before = new Set(own?.beside?.map(({ id }) => id));
  return restoresBeside(context).some(
    (other) => !before.has(other.id) || other.status !== 'done' || !isSame(own, other),
  );
}

type Content = Pick<TaskBeside, 'backup' | 'restoredFrom'>;

function isSame(own: Content | undefined, other: Content): boolean {
  const isKnown = other.backup !== undefined || other.restoredFrom !== undefined;
  return isKnown && own?.backup === other.backup && own?.restoredFrom === other.restoredFrom;
}

/** Sentences about them, and about a last look that failed. */
export function besideNotes(context: RunContext): readonly { step: string; reason: string }[] {
  const { unlooked } = context.record;
  return [
    ...restoresBeside(context).map(({ id, status }) => ({
      step: 'restore',
      reason: `the service shows restore ${id} (${status}), which this run did not send`,
    })),
    ...(unlooked === undefined || context.restore.restore === undefined
      ? []
      : [
          { step: 'record', reason: `whether there is another restore was not seen at the end: ${unlooked}` },
        ]),
  ];
}

/** Backups not sent from here: by a schedule, by others, or as a second copy of our request. */
export function backupsBeside({ backup, record, restore }: RunContext): string | undefined {
  const late = restore.restore === undefined ? (record.beside ?? []) : [];
  const ids = new Set([...(backup.backup?.beside ?? []), ...late].map(({ id }) => id));
  if (ids.size === 0) return undefined;
  return `${counted(ids.size, 'more backup')} that this run did not send: ${[...ids].join(', ')}`;
}
