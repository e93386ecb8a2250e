import type { Recorded, RotationRecord } from '../../machines/parts/verbs.ts';
import type { RepeatableActivity } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { ok } from './results.ts';

/** Tells the instance's ledger what was shown: which key opened which backup, and that no old key does. Sends nothing. */
export function recordRotation(_: ActivityDeps): RepeatableActivity<{ record: RotationRecord }, Recorded> {
  return {
    kind: 'repeatable',
    async run({ record }, { runId }) {
      const { fingerprint, backup, verification, negative, settles } = record;
      const proven = negative !== undefined && negative.opened.length === 0;
      const set = { type: 'key.set', body: { fingerprint, run: runId, answer: 'adopted' } };
      const provenFact = {
        type: 'key.proven',
        body: {
          fingerprint,
          run: runId,
          backup: { id: backup.id, ...(backup.backupId === undefined ? {} : { backup_id: backup.backupId }) },
          verdict: verification.verdict,
          cipherSha256: verification.cipherSha256,
          contentSha256: verification.contentSha256,
          negative: negative?.tested.length ? 'refused' : 'not-applicable',
        },
      };
      return ok({ fingerprint, proven }, [...(settles ? [set] : []), ...(proven ? [provenFact] : [])]);
    },
  };
}
