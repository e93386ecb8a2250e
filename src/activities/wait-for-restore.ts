import type { RestoreFacts } from '../../machines/parts/verbs.ts';
import type { ReadActivity } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { factsOfRestore } from './ground.ts';
import { waitForTask } from './wait-for-task.ts';

/** Polls a restore until it is done, whichever way it was asked for; see `waitForTask` for how it fails. */
export function waitForRestore(
  deps: Pick<ActivityDeps, 'service'>,
): ReadActivity<{ id: number }, RestoreFacts> {
  return {
    kind: 'read',
    run: ({ id }, context) =>
      waitForTask(
        {
          kind: 'restore',
          id,
          look: async () => (await deps.service.restore(id, context.signal)).value,
          facts: factsOfRestore,
          hints: [
            'a wrong key or a damaged backup can be the cause: check both before another restore',
            'what the instance holds now is not known: look at it before anything is bound to it',
          ],
        },
        context,
      ),
  };
}
