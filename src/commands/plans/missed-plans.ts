import { msOf } from '../../base/instant.ts';
import { planSubject } from '../../base/plan-subject.ts';
import type { LastEvaluated } from '../../compose/last-evaluated.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { Notice } from '../../notify/notice.ts';
import { drillMissedSince, evaluationMissed } from '../../plans/missed.ts';
import type { JournalReader } from '../../store/journal.ts';
import { findPlan } from './evaluate-plans.ts';
import { readHistories } from './plan-history.ts';

/**
 * The notices that a plan was not evaluated for two of its periods, or without a proven run within 1.25 of
 * its period; each stands until it is. A plan that cannot be read is the matter of its evaluation.
 */
export async function missedOfPlans(
  config: LoadedConfig,
  journal: JournalReader,
  names: readonly string[],
  { last, now }: { readonly last: LastEvaluated; readonly now: Date },
): Promise<readonly Notice[]> {
  const notices: Notice[] = [];
  const historyOf = await readHistories(journal);
  for (const { name, found } of await Promise.all(names.map((one) => findPlan(config, one)))) {
    if ('problem' in found) continue;
    const { evaluate, drill } = found.plan;
    const note = (missed: 'evaluation' | 'drill', since: string | undefined) =>
      notices.push({
        ...{ event: 'evaluation-due', index: undefined, stands: true, plan: name, missed },
        // A first one is always due, but notified once.
        id: `evaluation-due/${planSubject(name)}:${missed}/${since ?? 'first'}`,
        since: since ?? now.toISOString(),
      });
    const late = evaluate && evaluationMissed([planSubject(name)], last, evaluate.every, now);
    if (late !== undefined) note('evaluation', late.since);
    if (drill === undefined) continue;
    const { lastProven } = await historyOf(name);
    const since = drillMissedSince({ lastProven, everySeconds: drill.every / 1000 });
    if (since === undefined || msOf(since) <= now.getTime()) note('drill', since);
  }
  return notices;
}
