import type { FollowUp } from '../../machines/parts/follow-up.ts';
import type { RotationRecord } from '../../machines/parts/task-data.ts';
import { retirementOf } from '../store/projections/follow-ups.ts';
import { nextLedger } from '../store/projections/ledgers.ts';
import type { ActivityContext, LedgerFact } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { asJson } from './results.ts';

/** The retention is only a deadline: a service that is slow to tell it does not hold a rotation up. */
const PATIENCE_MS = 10_000;
const DAY_S = 86_400;

/**
 * The follow-ups for the keys that a new one has replaced: keep each until no retained backup needs it, then
 * retire it. One that is open in the ledger already is not opened again. Rejects when the ledger cannot be
 * read.
 */
export async function retirements(
  deps: ActivityDeps,
  { runId, instance, now, signal }: ActivityContext,
  { record, facts }: { readonly record: RotationRecord; readonly facts: readonly LedgerFact[] },
): Promise<LedgerFact[]> {
  const ledger = await deps.ledger();
  const at = now().toISOString();
  // The ledger as it will be once the facts of this verb are in it.
  const soon = facts.map((fact, index) => ({ ...fact, at, seq: ledger.seq + 1 + index }));
  const replaced = nextLedger(ledger, soon)
    .epochs.filter(({ endedBy, state }) => endedBy === record.fingerprint && state !== 'refuted')
    .map((epoch) => epoch.fingerprint)
    // A key that was set again and replaced again is to be retired again.
    .filter((fingerprint) => !ledger.retiring.includes(fingerprint));
  if (replaced.length === 0) return [];
  const days = record.retentionDays ?? (await retentionOf(deps, signal));
  return replaced.map((fingerprint) => ({
    type: 'follow-up.opened',
    body: asJson({ followUp: followUpFor(fingerprint, { instance, at, days }), run: runId }),
  }));
}

async function retentionOf({ service }: ActivityDeps, signal: AbortSignal): Promise<number | undefined> {
  try {
    const patient = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
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
