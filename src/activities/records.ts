import type { RecoveryCard } from '../../machines/parts/recovery-data.ts';
import type { BackupFacts, NegativeTest, Verification } from '../../machines/parts/task-data.ts';
import type { ActivityOf, LedgerFact } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { asJson, ok, readVerb, repeatableVerb } from './results.ts';
import { retirements } from './retirements.ts';

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

/**
 * Tells the instance's ledger what was shown: which key opened which backup, and that no old key does; and
 * that each key which it replaced is to be retired when no retained backup needs it any more. Changes nothing
 * at the service.
 */
export function recordRotation(deps: ActivityDeps): ActivityOf<'recordRotation'> {
  return repeatableVerb(async ({ record }, context) => {
    const { fingerprint, negative, closes } = record;
    const run = context.runId;
    const proven = negative !== undefined && negative.opened.length === 0;
    const facts: LedgerFact[] = [
      ...(closes ? [{ type: 'key.set', body: { fingerprint, run, answer: 'adopted' } }] : []),
      ...(proven ? [proofFact(fingerprint, { run, ...record })] : []),
    ];
    const opened = proven ? await retirements(deps, context, { record, facts }) : [];
    return ok({ fingerprint, proven }, [...facts, ...opened]);
  });
}

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
function proofFact(fingerprint: string, { run, backup, verification, negative }: Proof): LedgerFact {
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

/** Tells the ledger of the instance that was changed what it holds now, and from where. Sends nothing. */
export function recordRecovery(_: ActivityDeps): ActivityOf<'recordRecovery'> {
  return {
    kind: 'repeatable',
    async run({ record }, { runId }) {
      return ok({ recorded: true }, [{ type: 'recovery.done', body: asJson({ ...record, run: runId }) }]);
    },
  };
}

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

/**
 * What the instance's ledger and the key store know for a recovery without the instance: the newest card, the
 * backups that were opened with a key, newest first, and the keys at hand. Nothing of the service is called:
 * it may be gone.
 */
export function readCard(deps: ActivityDeps): ActivityOf<'readCard'> {
  return readVerb(async () => {
    // A keychain that is locked answers like one that is empty.
    await deps.keyring.store.probe();
    const keysHeld = [...(await deps.keyring.list(deps.name))];
    const { card, proven } = await deps.ledger();
    return ok({ ...(card === undefined ? {} : { card }), proven: [...proven], keysHeld });
  });
}
