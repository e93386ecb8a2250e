import { msOf } from '../../base/instant.ts';
import { planSubject } from '../../base/plan-subject.ts';
import type { LastEvaluated } from '../../compose/last-evaluated.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { AskedPlan, Done } from '../../evidence/duties.ts';
import { type LedgerFacts, ledgerFacts } from '../../evidence/ledger-facts.ts';
import type { Span } from '../../evidence/period.ts';
import { HOLDERS_STREAM, type JournalReader } from '../../store/journal.ts';
import { foldHolders } from '../../store/projections/holders.ts';
import { bringsDataBack } from '../../store/projections/recoveries.ts';
import type { FoundPlan } from '../plans/evaluate-plans.ts';
import { isPlanRun } from '../plans/plan-report-of.ts';
import type { PackedRun } from './record.ts';

/**
 * What each of these ledgers shows of a period, read one at a time. An evaluation that changed nothing is
 * not on record; `last` is when this home made the last one of each.
 */
export async function readLedgerFacts(
  journal: Pick<JournalReader, 'read'> | undefined,
  subjects: readonly string[],
  span: Span,
  { config, last }: { readonly config: LoadedConfig | undefined; readonly last: LastEvaluated },
): Promise<ReadonlyMap<string, LedgerFacts>> {
  const found = new Map<string, LedgerFacts>();
  for (const subject of subjects) {
    const entries = (await journal?.read(`instance/${subject}`)) ?? [];
    const facts = ledgerFacts(subject, entries, span, config?.instances[subject]?.cryptoperiod);
    const known = last[subject];
    const evaluatedAt = known === undefined ? facts.evaluatedAt : [...facts.evaluatedAt, msOf(known)];
    found.set(subject, { ...facts, evaluatedAt });
  }
  return found;
}

/** The proven runs that brought data of an instance back, or data into it, by the name of the instance. */
export async function readRecoveries(
  journal: Pick<JournalReader, 'read'> | undefined,
  runs: readonly PackedRun[],
): Promise<Done['recoveredAt']> {
  const found = new Map<string, number[]>();
  if (journal === undefined) return found;
  for (const run of runs) {
    if (run.status !== 'closed' || !run.proven || isPlanRun(run)) continue;
    if (!(await bringsDataBack(journal, run))) continue;
    for (const name of new Set([run.instance, run.target ?? run.instance]))
      found.set(name, [...(found.get(name) ?? []), msOf(run.lastAt)]);
  }
  return found;
}

/** When each recipient of sealed copies has opened a challenge. */
export async function readOpened(
  journal: Pick<JournalReader, 'read'> | undefined,
): Promise<Done['openedAt']> {
  const entries = (await journal?.read(HOLDERS_STREAM)) ?? [];
  const found = new Map<string, number[]>();
  for (const [index, { type, at }] of entries.entries()) {
    if (type !== 'holder.proven') continue;
    // Only earlier entries show which challenge an answer belongs to.
    for (const { recipient, provenAt } of foldHolders(entries.slice(0, index + 1)))
      if (provenAt === at) found.set(recipient, [...(found.get(recipient) ?? []), msOf(at)]);
  }
  return found;
}

/** The plans whose files ask for something, with what was done of it. */
export function askedPlans(
  plans: readonly FoundPlan[],
  ledgers: ReadonlyMap<string, Pick<LedgerFacts, 'evaluatedAt'>>,
  runs: readonly PackedRun[],
): readonly AskedPlan[] {
  return plans.flatMap(({ name, found }): AskedPlan[] => {
    if ('problem' in found) return [];
    const subject = planSubject(name);
    const proven = runs.filter((run) => isPlanRun(run) && run.instance === subject && run.proven);
    return [
      {
        ...{ subject, evaluate: found.plan.evaluate, drill: found.plan.drill },
        evaluatedAt: ledgers.get(subject)?.evaluatedAt ?? [],
        provenAt: proven.map(({ lastAt }) => msOf(lastAt)),
      },
    ];
  });
}
