import type { BackupFacts, NegativeTest, Verification } from '../../machines/parts/task-data.ts';
import type { LedgerFact } from './activity.ts';

interface Proof {
  readonly run: string;
  readonly backup: BackupFacts;
  readonly verification: Verification;
  readonly negative?: NegativeTest | undefined;
}

/**
 * What the ledger learns when a backup was opened with a key and read to its end (`key.proven` in
 * keys/epochs.ts).
 */
export function proofFact(fingerprint: string, { run, backup, verification, negative }: Proof): LedgerFact {
  const { id, backupId, triggeredAt } = backup;
  return {
    type: 'key.proven',
    body: {
      fingerprint,
      run,
      backup: {
        id,
        ...(backupId === undefined ? {} : { backup_id: backupId }),
        ...(triggeredAt === undefined ? {} : { triggered_at: triggeredAt }),
      },
      verdict: verification.verdict,
      cipherSha256: verification.cipherSha256,
      contentSha256: verification.contentSha256,
      negative: isRefused(negative) ? 'refused' : 'not-applicable',
    },
  };
}

function isRefused(negative: NegativeTest | undefined): boolean {
  return negative !== undefined && negative.tested.length > 0 && negative.opened.length === 0;
}
