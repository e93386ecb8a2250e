import type { ActivityOf } from './activity.ts';
import { doneBackups, factsOfBackup } from './baseline.ts';
import type { ActivityDeps } from './deps.ts';
import { because, ok } from './results.ts';

/** So many are enough to choose from, and little enough to be journalled. */
const MOST = 50;

/**
 * The backups that can be restored: those that are done, newest first, the newest 50 of them (service-api.md
 * endpoint 1).
 */
export function listBackups(deps: ActivityDeps): ActivityOf<'listBackups'> {
  return {
    kind: 'read',
    async run(_, { signal }) {
      try {
        const { value } = await deps.service.backups(signal);
        const done = doneBackups(value);
        return ok({ newest: done.slice(0, MOST).map(factsOfBackup), total: done.length });
      } catch (thrown) {
        return because(thrown);
      }
    },
  };
}
