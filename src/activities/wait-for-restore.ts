import type { Restore } from '../service/schemas.ts';
import type { ActivityOf } from './activity.ts';
import { factsOfRestore } from './baseline.ts';
import type { ActivityDeps } from './deps.ts';
import { waitForTask } from './wait-for-task.ts';

/**
 * Polls a restore until it is done, whichever way it was asked for; see `waitForTask` for how it fails. Where
 * the service does not tell when the work began, that it was seen to begin tells the queue from the work. A
 * process that comes later may not have seen it.
 */
export function waitForRestore(
  deps: Pick<ActivityDeps, 'service' | 'objectives'>,
): ActivityOf<'waitForRestore'> {
  return {
    kind: 'read',
    run({ id }, context) {
      let wasQueued = false;
      let seenRunningAt: string | undefined;
      return waitForTask(
        {
          kind: 'restore',
          id,
          look: async () => {
            const { value, skew } = await deps.service.restore(id, context.signal);
            wasQueued ||= value.status === 'queued';
            if (wasQueued && value.status === 'running') seenRunningAt ??= context.now().toISOString();
            return { value: timed(value), skew };
          },
          earlier: async (signal) => (await deps.service.restores(signal)).value.map(timed),
          rtoMs: deps.objectives.rtoMs,
          facts: (restore) => ({
            ...factsOfRestore(restore),
            ...(seenRunningAt === undefined ? {} : { seenRunningAt }),
          }),
          hints: [
            'a wrong key or a damaged backup can be the cause: check both before another restore',
            'what the instance holds now is not known: look at it before anything is bound to it',
          ],
        },
        context,
      );
    },
  };
}

/**
 * Revision 61 tells when a restore was begun (service-api.md section 3); the schema takes it for any other
 * field.
 */
function timed(restore: Restore) {
  const { started_at } = restore;
  return { ...restore, started_at: typeof started_at === 'string' ? started_at : undefined };
}
