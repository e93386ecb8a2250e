import type { Ground } from '../../machines/parts/verbs.ts';
import type { ReadActivity } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { groundOf } from './ground.ts';
import { because, ok } from './results.ts';

/** Reads again what the operator's confirmation rests on, right before the change. Only GETs. */
export function recheck(deps: ActivityDeps): ReadActivity<{ instance: string }, Ground> {
  return {
    kind: 'read',
    async run(_, { signal }) {
      try {
        const overview = await deps.service.overview(signal);
        const config = await deps.service.backupsConfig(signal);
        const backups = await deps.service.backups(signal);
        return ok(groundOf(overview.value, config.value, backups.value));
      } catch (thrown) {
        return because(thrown);
      }
    },
  };
}
