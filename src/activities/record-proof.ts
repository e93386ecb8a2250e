import type { ActivityOf } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { proofFact } from './proof-fact.ts';
import { ok } from './results.ts';

/** Tells the ledger which key opened which backup, read to its last byte. Sends nothing. */
export function recordProof(_: ActivityDeps): ActivityOf<'recordProof'> {
  return {
    kind: 'repeatable',
    async run({ backup, verification, negative }, { runId }) {
      const fact = proofFact(verification.opens, { run: runId, backup, verification, negative });
      return ok({ recorded: true }, [fact]);
    },
  };
}
