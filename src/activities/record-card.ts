import type { RecoveryCard } from '../../machines/parts/recovery-data.ts';
import type { ActivityOf } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { asJson, ok } from './results.ts';

/**
 * Puts a recovery card into the instance's ledger, where `readCard` finds it when the instance is gone. A
 * machine knows no clock, so what the draft does not say was prepared, or proven, now. Sends nothing.
 */
export function recordCard(_: ActivityDeps): ActivityOf<'recordCard'> {
  return {
    kind: 'repeatable',
    async run({ card: draft }, { runId, now }) {
      const at = now().toISOString();
      const { proven, preparedAt = at, ...rest } = draft;
      const card: RecoveryCard = {
        ...rest,
        preparedAt,
        ...(proven === undefined ? {} : { proven: { ...proven, provenAt: proven.provenAt ?? at } }),
      };
      return ok({ recorded: true }, [{ type: 'card.prepared', body: asJson({ card, run: runId }) }]);
    },
  };
}
