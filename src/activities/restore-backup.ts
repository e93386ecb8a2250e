import type { ActivityOf } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { judgeTask } from './doubt.ts';
import { baselineOf, lookAt, sentTask } from './once-task.ts';
import { restoreOfBackup } from './restore-fits.ts';

/**
 * Restores one of the instance's backups into it (service-api.md endpoint 7), at most once for each intent. A
 * colleague's restore of the same backup at the same moment cannot be distinguished from ours; it is adopted,
 * since the alternative is to send twice.
 */
export function restoreBackup(deps: ActivityDeps): ActivityOf<'restoreBackup'> {
  return {
    kind: 'once',
    prepare: (_, { signal }) => baselineOf(deps, 'restores', signal),
    send: async ({ backup }, context, baseline) =>
      sentTask(await deps.service.restoreBackup(backup, context), 'restore', baseline),
    judge: async ({ backup }, memory, context) => {
      const look = await lookAt(() => deps.service.restores(context.signal), memory, deps, context);
      return judgeTask(look, restoreOfBackup(backup));
    },
  };
}
