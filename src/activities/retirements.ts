import type { Obligation } from '../../machines/parts/obligation.ts';
import type { RotationRecord } from '../../machines/parts/verbs.ts';
import { foldEpochs } from '../keys/fold-epochs.ts';
import type { Entry } from '../store/journal.ts';
import type { ActivityContext, LedgerFact } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { asJson } from './results.ts';

/** The retention is only a deadline: a service that is slow to tell it does not hold a rotation up. */
const PATIENCE_MS = 10_000;
const DAY_S = 86_400;

/**
 * What is owed for the keys that a new one has replaced: each is kept until no retained backup needs it, and then it is to be retired. One
 * that the ledger holds already is not opened again. Rejects when the ledger cannot be read.
 */
export async function retirements(
  deps: ActivityDeps,
  { runId, instance, now, signal }: ActivityContext,
  { record, facts }: { readonly record: RotationRecord; readonly facts: readonly LedgerFact[] },
): Promise<LedgerFact[]> {
  const entries = await deps.ledger();
  const at = now().toISOString();
  const replaced = foldEpochs(continued(entries, facts, at))
    .filter(({ endedBy, state }) => endedBy === record.fingerprint && state !== 'refuted')
    .map((epoch) => epoch.fingerprint)
    .filter((fingerprint) => !isOpened(entries, fingerprint));
  if (replaced.length === 0) return [];
  const days = record.retentionDays ?? (await retentionOf(deps, signal));
  return replaced.map((fingerprint) => ({
    type: 'obligation.opened',
    body: asJson({ obligation: obligationFor(fingerprint, { instance, at, days }), run: runId }),
  }));
}

/** The ledger as it will be once the facts of this verb are in it. */
function continued(entries: readonly Entry[], facts: readonly LedgerFact[], at: string): readonly Entry[] {
  const last = entries.at(-1)?.seq ?? 0;
  const blank = { stream: 'instance/x', by: '', prev: '', hash: '' } as const;
  return [
    ...entries,
    ...facts.map(({ type, body }, index) => ({ ...blank, type, body, at, seq: last + 1 + index })),
  ];
}

/** Whether it was opened since the key was last in force: a key that was set again and replaced again is owed again. */
function isOpened(entries: readonly Entry[], fingerprint: string): boolean {
  const last = entries.findLast(
    ({ type, body }) =>
      (type === 'key.set' && fieldOf(body, 'fingerprint') === fingerprint) ||
      (type === 'obligation.opened' && fieldOf(fieldOf(body, 'obligation'), 'id') === idFor(fingerprint)),
  );
  return last?.type === 'obligation.opened';
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null ? Object(value)[field] : undefined;
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

function obligationFor(
  fingerprint: string,
  {
    instance,
    at,
    days,
  }: { readonly instance: string; readonly at: string; readonly days: number | undefined },
): Obligation {
  return {
    id: idFor(fingerprint),
    kind: 'retire-key',
    subject: fingerprint,
    what: `retire key ${fingerprint} of ${instance} when no retained backup needs it`,
    since: at,
    ...(days === undefined ? {} : { dueSeconds: days * DAY_S }),
    commands: [`lifeboat keys list ${instance}`],
  };
}

function idFor(fingerprint: string): string {
  return `retire-key-${fingerprint}`;
}
