import type { ActivityOf, LedgerFact } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { proofFact } from './proof-fact.ts';
import { because, ok } from './results.ts';
import { retirements } from './retirements.ts';

/**
 * Tells the instance's ledger what was shown: which key opened which backup, and that no old key does; and
 * that each key which it replaced is to be retired when no retained backup needs it any more. Changes nothing
 * at the service.
 */
export function recordRotation(deps: ActivityDeps): ActivityOf<'recordRotation'> {
  return {
    kind: 'repeatable',
    async run({ record }, context) {
      const { fingerprint, negative, closes } = record;
      const run = context.runId;
      const proven = negative !== undefined && negative.opened.length === 0;
      try {
        const facts: LedgerFact[] = [
          ...(closes ? [{ type: 'key.set', body: { fingerprint, run, answer: 'adopted' } }] : []),
          ...(proven ? [proofFact(fingerprint, { run, ...record })] : []),
        ];
        const opened = proven ? await retirements(deps, context, { record, facts }) : [];
        return ok({ fingerprint, proven }, [...facts, ...opened]);
      } catch (thrown) {
        return because(thrown);
      }
    },
  };
}
