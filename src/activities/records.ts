import type { FollowUp } from '../../machines/parts/follow-up.ts';
import type { RecoveryCard } from '../../machines/parts/recovery-data.ts';
import type {
  BackupFacts,
  NegativeTest,
  RotationRecord,
  Verification,
} from '../../machines/parts/task-data.ts';
import { timeLimit } from '../base/time-limit.ts';
import { retirementOf } from '../store/projections/follow-ups.ts';
import { nextLedger } from '../store/projections/ledgers.ts';
import {
  type ActivityContext,
  type ActivityOf,
  asJson,
  type LedgerFact,
  ok,
  readVerb,
  repeatableVerb,
} from './activity.ts';
import { lastLook } from './beside.ts';
import type { ActivityDeps } from './deps.ts';

/** For a key that opened the backup to its last byte. Looks at the list once more. */
export function recordProof(deps: ActivityDeps): ActivityOf<'recordProof'> {
  return {
    kind: 'repeatable',
    async run({ backup, verification, negative }, context) {
      const fact = proofFact(verification.opens, { run: context.runId, backup, verification, negative });
      const looked = await lastLook(deps, { what: 'backup', id: backup.id }, context);
      return ok({ recorded: true, ...looked }, [fact]);
    },
  };
}

/**
 * Which key opened which backup, and that no old key does; and a follow-up to retire each key that it
 * replaced, once no retained backup needs it. Changes nothing at the service.
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
    const retired = proven ? await retirements(deps, context, { record, facts }) : [];
    const opened = retired.map((followUp) => ({ type: 'follow-up.opened', body: asJson({ followUp, run }) }));
    const looked = await lastLook(deps, { what: 'backup', id: record.backup.id }, context);
    const leaves = retired.map(({ what }) => what);
    return ok({ fingerprint, proven, leaves, ...looked }, [...facts, ...opened]);
  });
}

interface Proof {
  readonly run: string;
  readonly backup: BackupFacts;
  readonly verification: Verification;
  readonly negative?: NegativeTest | undefined;
}

/** The key opened the backup to its end. */
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
      cipherBytes: verification.cipherBytes,
      contentBytes: verification.contentBytes,
      negative: isRefused(negative) ? 'refused' : 'not-applicable',
    },
  };
}

function isRefused(negative: NegativeTest | undefined): boolean {
  return negative !== undefined && negative.tested.length > 0 && negative.opened.length === 0;
}

/**
 * In the ledger of the changed instance: its content now, and the source. Looks at its restores once more,
 * and waits while one is under way that was not sent.
 */
export function recordRecovery(deps: ActivityDeps): ActivityOf<'recordRecovery'> {
  return {
    kind: 'repeatable',
    async run({ record, on }, context) {
      const fact = { type: 'recovery.done', body: asJson({ ...record, run: context.runId }) };
      const { restore, source } = record;
      // The record of the source is about a restore into another instance.
      if (restore === undefined || (source !== undefined && on === undefined))
        return ok({ recorded: true }, [fact]);
      const looked = await lastLook(deps, { what: 'restore', id: restore.id, on }, context);
      return ok({ recorded: true, ...looked }, [fact]);
    },
  };
}

/**
 * `readCard` finds the card when the instance is gone. A machine has no clock, so missing times are set to
 * now. Sends nothing.
 */
export function recordCard(deps: ActivityDeps): ActivityOf<'recordCard'> {
  return {
    kind: 'repeatable',
    async run({ card: draft }, { runId, now }) {
      const at = now().toISOString();
      const { proven, preparedAt = at, ...rest } = draft;
      const card: RecoveryCard = {
        ...rest,
        preparedAt,
        ...(proven === undefined ? {} : { proven: { ...proven, provenAt: proven.provenAt ?? at } }),
        ...(rest.fingerprint === undefined ? {} : { key: await keyFactor(deps, rest.fingerprint) }),
      };
      return ok({ recorded: true }, [{ type: 'card.prepared', body: asJson({ card, run: runId }) }]);
    },
  };
}

/** Whether this key store has it, and its newest sealed copies on record. */
async function keyFactor(
  { name, keyring, ledger }: ActivityDeps,
  fingerprint: string,
): Promise<NonNullable<RecoveryCard['key']>> {
  const [held, { custody }] = await Promise.all([keyring.list(name), ledger()]);
  const { escrowed } = custody?.keys[fingerprint] ?? {};
  const sealed =
    escrowed === undefined
      ? {}
      : { sealed: { places: escrowed.places.map(({ place }) => place), people: escrowed.recipients.length } };
  return { store: keyring.store.description, isHeld: held.includes(fingerprint), ...sealed };
}

/**
 * From the ledger and the key store, for a recovery without the instance: the newest card, opened backups,
 * newest first, held keys, and the last list of backups. Makes no call to the service, which may be gone.
 */
export function readCard(deps: ActivityDeps): ActivityOf<'readCard'> {
  return readVerb(async () => {
    // A locked keychain answers like an empty one.
    await deps.keyring.store.probe();
    const keysHeld = [...(await deps.keyring.list(deps.name))];
    const { card, proven } = await deps.ledger();
    const seen = deps.lastSeen();
    return ok({ ...(card && { card }), proven: [...proven], keysHeld, ...(seen && { seen }) });
  });
}

/** The retention only sets a deadline, so a slow service must not delay a rotation. */
const PATIENCE_MS = 10_000;
const DAY_S = 86_400;

/**
 * For each replaced key: keep it until no retained backup needs it, then retire it. A follow-up that is
 * already open in the ledger is not opened again. Rejects if the ledger cannot be read.
 */
async function retirements(
  deps: ActivityDeps,
  { instance, now, signal }: ActivityContext,
  { record, facts }: { readonly record: RotationRecord; readonly facts: readonly LedgerFact[] },
): Promise<FollowUp[]> {
  const ledger = await deps.ledger();
  const at = now().toISOString();
  // The ledger as it will be with the facts of this verb.
  const soon = facts.map((fact, index) => ({ ...fact, at, seq: ledger.seq + 1 + index }));
  const replaced = nextLedger(ledger, soon)
    .epochs.filter(({ endedBy, state }) => endedBy === record.fingerprint && state !== 'refuted')
    .map((epoch) => epoch.fingerprint)
    // A key that was set again and replaced again must be retired again.
    .filter((fingerprint) => !ledger.retiring.includes(fingerprint));
  if (replaced.length === 0) return [];
  const days = record.retentionDays ?? (await retentionOf(deps, signal));
  return replaced.map((fingerprint) => followUpFor(fingerprint, { instance, at, days }));
}

async function retentionOf({ service }: ActivityDeps, signal: AbortSignal): Promise<number | undefined> {
  try {
    const patient = AbortSignal.any([signal, timeLimit(PATIENCE_MS)]);
    const { value } = await service.backupsConfig(patient);
    return value.retention_time;
  } catch {
    return undefined;
  }
}

function followUpFor(
  fingerprint: string,
  {
    instance,
    at,
    days,
  }: { readonly instance: string; readonly at: string; readonly days: number | undefined },
): FollowUp {
  return {
    id: retirementOf(fingerprint),
    kind: 'retire-key',
    subject: fingerprint,
    what: `retire key ${fingerprint} of ${instance} when no retained backup needs it`,
    since: at,
    ...(days === undefined ? {} : { dueSeconds: days * DAY_S }),
    commands: [`lifeboat keys list ${instance}`],
  };
}
