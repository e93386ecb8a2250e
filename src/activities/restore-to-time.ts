import { instantOf } from '../base/instant.ts';
import type { Restore } from '../service/schemas.ts';
import type { ActivityOf } from './activity.ts';
import { wasPlainlyAccepted } from './answered.ts';
import type { ActivityDeps } from './deps.ts';
import { judgeTask } from './doubt.ts';
import type { Look } from './evaluate-tasks.ts';
import { baselineOf, lookAt, sentTask } from './once-task.ts';
import { restoreToInstant } from './restore-fits.ts';
import { no } from './results.ts';

/**
 * Restores the instance to a point in time (service-api.md endpoint 18), at most once for each intent. The
 * answer names no restore, so even an accepted one is looked for in the list; one that does not appear there
 * before the in-flight window has passed is a question, never absent.
 */
export function restoreToTime(deps: ActivityDeps): ActivityOf<'restoreToTime'> {
  return {
    kind: 'once',
    async prepare({ targetTime }, { signal }) {
      // It is what the restore is known by afterwards, so it is checked before anything is armed.
      if (instantOf(targetTime) === undefined)
        return no('pitr.no-time', 'the time to restore to is not a full date and time', {
          hints: ['write it like 2026-03-01T02:59:00Z; nothing was sent to the service'],
        });
      return baselineOf(deps, 'restores', signal);
    },
    async send({ targetTime }, context, baseline) {
      const sent = await deps.service.restoreToTime(targetTime, context);
      return sentTask(sent.outcome === 'accepted' ? { ...sent, value: {} } : sent, 'restore', baseline);
    },
    judge: async ({ targetTime }, memory, context) => {
      const look = await lookAt(() => deps.service.restores(context.signal), memory, deps, context);
      if (!wasPlainlyAccepted(memory.lost) || !isOnlyOne(look))
        return judgeTask(look, restoreToInstant(targetTime));
      const own = await deps.service.backups(context.signal);
      return judgeTask(look, restoreToInstant(targetTime, own.value));
    },
  };
}

function isOnlyOne({ baseline, tasks }: Look<Restore>): boolean {
  const before = new Set(baseline.tasks.map(([id]) => id));
  return tasks.filter(({ id }) => !before.has(id)).length === 1;
}
