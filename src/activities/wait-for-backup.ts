import type { Answer } from '../service/client.ts';
import type { Backup } from '../service/schemas.ts';
import type { ActivityOf } from './activity.ts';
import { factsOfBackup } from './baseline.ts';
import type { ActivityDeps } from './deps.ts';
import { waitForTask } from './wait-for-task.ts';

/** Polls a backup until it is done; see `waitForTask` for how it fails. */
export function waitForBackup(deps: Pick<ActivityDeps, 'service'>): ActivityOf<'waitForBackup'> {
  return {
    kind: 'read',
    run: ({ id }, context) =>
      waitForTask(
        {
          kind: 'backup',
          id,
          look: () => look(deps, id, context.signal),
          earlier: async (signal) => (await deps.service.backups(signal)).value,
          facts: factsOfBackup,
          hints: [
            'another backup may be asked for',
            'look at disk space and the state of the instance first',
          ],
        },
        context,
      ),
  };
}

/** The backup with its `backup_id`, which revision 62 gives in the list only (service-api.md section 2.1). */
async function look(
  deps: Pick<ActivityDeps, 'service'>,
  id: number,
  signal: AbortSignal,
): Promise<Pick<Answer<Backup>, 'value' | 'skew'>> {
  const { value, skew } = await deps.service.backup(id, signal);
  if (value.status !== 'done' || value.backup_id !== undefined) return { value, skew };
  const list = await deps.service.backups(signal);
  const backup_id = list.value.find((other) => other.id === id)?.backup_id;
  return { value: { ...value, backup_id }, skew };
}
