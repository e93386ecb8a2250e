import type { PlanInput } from '../../../machines/parts/plan.ts';
import type { PlanContext } from '../../../machines/plan.ts';
import { msOf } from '../../base/instant.ts';
import { planFacts } from '../../plans/facts.ts';
import { isStopped } from '../../plans/standing.ts';
import { questionOf } from '../../runner/answer.ts';
import type { Folded } from '../../runner/fold.ts';
import { inputOf } from '../../runner/run-log.ts';
import type { Entry, JournalReader } from '../../store/journal.ts';
import type { ChildRow } from '../../store/projections/plan-children.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { planView } from '../../view/plan/build-plan-view.ts';
import type { PlanView } from '../../view/plan/plan-view.ts';
import { outcomeOf, titleOf } from './plan-port.ts';
import { recordedChildren } from './recorded-children.ts';

interface Known {
  /** Those of the plan's run, what they lead to, and its children. */
  readonly entries: readonly Entry[];
  readonly folded: Folded;
  readonly children: readonly ChildRow[];
  readonly nowMs: number;
}

/**
 * The run of a plan as its screen shows it, by the record alone. Undefined for one without a plan on record,
 * which only an older version can have written.
 */
export async function planViewOnRecord(
  journal: Pick<JournalReader, 'read'>,
  { runId }: Pick<RunSummary, 'runId'>,
  { entries, folded: { snapshot }, children: rows, nowMs }: Known,
): Promise<PlanView | undefined> {
  const input = inputOf(entries) as unknown as Partial<PlanInput> | undefined;
  if (input?.plan === undefined || input.groups === undefined) return undefined;
  const context = snapshot.context as PlanContext;
  const states = planFacts(snapshot, [], nowMs)?.records;
  const children = await recordedChildren(journal, rows, {
    context,
    isStopped: (group) => isStopped(context.groups[group], states?.[group]?.state),
  });
  return planView({
    ...{ runId, snapshot, children, nowMs },
    title: titleOf(snapshot),
    question: questionOf(snapshot),
    startedMs: msOf(context.input.incidentAt ?? entries[0]?.at),
    outcome: outcomeOf(entries),
  });
}
