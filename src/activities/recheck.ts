import type { ActivityOf } from './activity.ts';
import { instanceBaseline, readInstance } from './baseline.ts';
import type { ActivityDeps } from './deps.ts';
import { because, ok } from './results.ts';

/** Reads again what the operator's confirmation rests on, right before the change. Only GETs. */
export function recheck(deps: ActivityDeps): ActivityOf<'recheck'> {
  return {
    kind: 'read',
    async run(_, { signal }) {
      try {
        const seen = await readInstance(deps.service, signal, { restores: true });
        const { overview, config, backups, restores } = seen;
        return ok(instanceBaseline(overview, config, backups, restores));
      } catch (thrown) {
        return because(thrown);
      }
    },
  };
}
