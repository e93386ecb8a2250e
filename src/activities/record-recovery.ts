import type { ActivityOf } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { asJson, ok } from './results.ts';

/** Tells the ledger of the instance that was changed what it holds now, and from where. Sends nothing. */
export function recordRecovery(_: ActivityDeps): ActivityOf<'recordRecovery'> {
  return {
    kind: 'repeatable',
    async run({ record }, { runId }) {
      return ok({ recorded: true }, [{ type: 'recovery.done', body: asJson({ ...record, run: runId }) }]);
    },
  };
}
