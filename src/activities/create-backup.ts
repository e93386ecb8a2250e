import type { ActivityOf } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { judgeBackup } from './doubt.ts';
import { baselineOf, lookAt, sentTask } from './once-task.ts';

/** Asks for one backup (service-api.md endpoint 3), at most once for each intent. */
export function createBackup(deps: ActivityDeps): ActivityOf<'createBackup'> {
  return {
    kind: 'once',
    prepare: (_, { signal }) => baselineOf(deps, 'backups', signal),
    send: async (_, context, baseline) =>
      sentTask(await deps.service.createBackup(context), 'backup', baseline),
    judge: async (_, memory, context) =>
      judgeBackup(await lookAt(() => deps.service.backups(context.signal), memory, deps, context)),
  };
}
